"""Run the steps on the connection that ``Database.migrate`` opened, locked and will commit.

Alembic executes this file; there is no ``alembic.ini``.
"""

from alembic import context
from sqlmodel import SQLModel

import models.recorded.tables  # noqa: F401  (declares the tables)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transactional_ddl=True,  # SQLite too: we begin the transaction ourselves, so that a broken step leaves nothing
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
