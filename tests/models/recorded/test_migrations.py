"""Every step keeps what was stored before it: rows are written at each revision and read at the last."""

from pathlib import Path

from alembic.script import ScriptDirectory
from sqlmodel import SQLModel, select

from models.recorded.database import MIGRATIONS, Database, _create, upgrade
from models.recorded.tables import ActRow, ThreadRow, VerdictRow

DATA = Path(__file__).parents[2] / "migrations"


def test_rows_of_every_revision_survive_to_the_last(empty_database_url: str) -> None:
    revisions = [step.revision for step in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]
    assert sorted(file.stem for file in DATA.glob("*.sql")) == sorted(revisions)
    database = Database.open(empty_database_url)
    if not database.postgres:
        _create(Path(empty_database_url.removeprefix("sqlite:///")))
    for revision in revisions:
        with database.write() as session:
            upgrade(session.connection(), revision)
            for statement in (DATA / f"{revision}.sql").read_text().split(";\n"):
                if statement.strip():
                    session.connection().exec_driver_sql(statement)
    database.check()
    with database.read() as session:
        for table in SQLModel.metadata.tables.values():
            assert session.connection().execute(select(table)).first() is not None, table.name
        assert [row.body for row in session.exec(select(ActRow))] == ["text"]
        assert [row.labelled for row in session.exec(select(ThreadRow))] == [{"burst": "on hold"}]
        assert [row.readings for row in session.exec(select(VerdictRow))] == [{"bullet_share": None}]
    database.close()
