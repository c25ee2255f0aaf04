"""The component for SQL."""

import json

from pydantic import PrivateAttr

from headgate.components.data.table_sql import MOST_ROWS
from headgate.components.isolated.calls import query_tables
from headgate.graph.template import FieldKind
from headgate.sdk import Component, Data, Table, field, output
from headgate.sdk.coerce import data_of


class TableQuery(Component):
    """Runs an SQL query over one or more tables: filter, sort, group, count, join."""

    label = "Table query"
    category = "data"
    icon = "database"
    keywords = (
        "sql", "select", "where", "group by", "aggregate", "count", "sum", "average", "join", "sort", "order",
        "filter rows", "columns", "rows", "sqlite", "pivot", "statistics", "top", "distinct", "spreadsheet",
        "analyse", "analyze",
    )  # fmt: skip

    tables: list[Table] = field(
        name="table",
        label="Tables",
        help="Tables, or data that is a list of objects. The first is t (and t1), the next t2, t3...",
        main=True,
        many=True,
    )
    sql: str = field(
        label="SQL",
        help="One SELECT in SQLite's dialect, for example SELECT licence, count(*) AS n FROM t GROUP BY licence. "
        "A {{reference}} is a value; in double quotes it names a column.",
        kind=FieldKind.CODE,
        tool_mode=True,
        port=False,
        syntax="sql",
    )
    most_rows: int = field(
        default=MOST_ROWS,
        label="Most rows",
        help="More rows than this cause an error.",
        ge=1,
        le=MOST_ROWS,
        advanced=True,
    )
    _result: Table | None = PrivateAttr(default=None)

    @output(name="table", label="Table", help="The rows of the result.")
    async def give_table(self) -> Table:
        """Return the result; computed once."""
        if self._result is None:
            self._result = await query_tables(self.ctx, self.tables, self.sql, most_rows=self.most_rows)
            self.ctx.log("The query ran.", rows=len(self._result.rows), columns=json.dumps(self._result.columns))
        return self._result

    @output(help="The rows as a list of objects.")
    async def data(self) -> Data:
        """Return the result as data."""
        return data_of(await self.give_table())
