"""How are many rows written by one statement, with no more work than the driver needs?

Each statement costs a wait for the interpreter's lock, and on PostgreSQL a trip to the server: one for a batch of
deliveries instead of one for each, its words written once instead of every time.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Insert, Row
from sqlalchemy.sql.dml import ReturningInsert

from models.recorded.database import Database

MOST_ROWS: Final = 64  # in one statement
_VALUES: Final = re.compile(r"(?<= VALUES )\([^()]*\)")


class ManyRows:
    """An INSERT of the named columns, its words written once by SQLAlchemy; rows are mappings of them all."""

    def __init__(self, database: Database, insert: Insert | ReturningInsert[Any], columns: Sequence[str]) -> None:
        compiled = insert.compile(dialect=database.positional(), column_keys=list(columns))
        self._words = str(compiled)
        found = _VALUES.search(self._words)
        names: Sequence[str] = getattr(compiled, "positiontup", None) or ()
        if found is None or set(names[: len(columns)]) != set(columns):
            raise ValueError("not an INSERT of values")
        self._row = found[0]
        self._columns = tuple(names[: len(columns)])
        self._constants = tuple(compiled.params[name] for name in names[len(columns) :])

    def write(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Row[Any]]:
        """Insert the rows in their order; give what the statement returns of them."""
        found: list[Row[Any]] = []
        for start in range(0, len(rows), MOST_ROWS):
            part = rows[start : start + MOST_ROWS]
            words = self._words.replace(self._row, ", ".join([self._row] * len(part)), 1)
            values = tuple(row[name] for row in part for name in self._columns)
            result = connection.exec_driver_sql(words, values + self._constants)
            if result.returns_rows:
                found += result.all()
        return found
