"""SQL over tables."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.data import table_sql as module
from headgate.components.data.table_query import TableQuery
from headgate.components.data.table_sql import query
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness

PEOPLE = Table(
    columns=["name", "Team", "pay grade", "tags", "ok"],
    rows=[["Ann", "a", 3, ["x"], True], ["Bo", "b", 1.5, None, False], ["Åsa", "a", 2, {"k": "å"}, None]],
)
TEAMS = Table(columns=["id", "label"], rows=[["a", "Alpha"], ["b", "Beta"]])

CELLS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


def rows(sql: str, *tables: Table, **options: Any) -> list[list[Any]]:
    return query(tables or (PEOPLE, TEAMS), sql, **options).rows


class TestQuery:
    def test_filters_groups_and_joins(self) -> None:
        assert rows('SELECT name FROM t WHERE "pay grade" >= 2 ORDER BY name DESC') == [["Åsa"], ["Ann"]]
        assert rows("SELECT team, count(*) FROM t1 GROUP BY team ORDER BY 1") == [["a", 2], ["b", 1]]
        assert rows("SELECT label FROM t JOIN t2 ON t.team = t2.id WHERE name = 'Bo'") == [["Beta"]]
        assert rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT i FROM n;") == [
            [1], [2], [3],
        ]  # fmt: skip

    def test_says_that_a_table_came_empty(self) -> None:
        empty = Table(columns=[], rows=[])
        with pytest.raises(ComponentError, match="no column 'licence': t1 arrived without rows and columns") as refused:
            rows("SELECT licence, count(*) FROM t GROUP BY licence", empty)
        assert "An empty list has no column names" in refused.value.remedy
        assert rows("SELECT count(*) FROM t", empty) == [[0]]

    def test_keeps_values_what_they_are(self) -> None:
        table = query([PEOPLE], "SELECT * FROM t")
        assert table.columns == PEOPLE.columns
        assert table.rows[0] == ["Ann", "a", 3, '["x"]', 1]
        assert table.rows[1][2] == 1.5
        assert rows("SELECT typeof(\"pay grade\"), json_extract(tags, '$.k') FROM t WHERE name = 'Åsa'") == [
            ["integer", "å"]
        ]

    def test_tells_columns_apart(self) -> None:
        table = Table(columns=["a", "A", "", 'q"x', "a"], rows=[[1, 2, 3, 4, 5]])
        assert query([table], "SELECT * FROM t").columns == ["a", "A_2", "column_3", 'q"x', "a_3"]
        assert query([table], "SELECT 1 AS x, 2 AS x, 3 AS X").columns == ["x", "x_2", "X_3"]

    def test_carries_what_json_has_not(self) -> None:
        big = Table(columns=["n"], rows=[[2**64 - 1]])
        assert rows("SELECT n FROM t", big) == [[str(2**64 - 1)]]
        assert rows("SELECT 9e999, x'ff00'") == [[None, "ff00"]]

    def test_works_on_nothing(self) -> None:
        assert rows("SELECT count(*) FROM t", Table(columns=[])) == [[0]]
        assert query([Table(columns=["a"])], "SELECT * FROM t") == Table(columns=["a"])

    @pytest.mark.parametrize(
        "sql",
        [
            "DELETE FROM t1",
            "INSERT INTO t1 VALUES (1)",
            "CREATE TABLE x (a)",
            "DROP TABLE t1",
            "ATTACH '/tmp/evil.db' AS e",
            "PRAGMA database_list",
            "SELECT * FROM pragma_database_list",
            "SELECT load_extension('/tmp/x.so')",
            "VACUUM INTO '/tmp/x.db'",
            "BEGIN",
            "EXPLAIN DELETE FROM t1",
            "CREATE VIRTUAL TABLE f USING fts3(tokenize=x)",
        ],
    )
    def test_only_reads(self, sql: str) -> None:
        with pytest.raises(ComponentError) as caught:
            rows(sql)
        assert re.search("only read access is allowed|no such function|gives no rows", str(caught.value))

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            ("SELECT nme FROM t", "no such column: nme; did you mean 'name'?."),
            ("SELECT t.nam FROM t", "did you mean 'name'"),
            ("SELECT 1 FROM people", "no such table: people"),
            ("SELEC 1", "syntax error"),
            ("SELECT 1; SELECT 2", "more than one statement"),
            ("", "the SQL returns no rows"),
            ("-- nothing", "the SQL returns no rows"),
            ("SELECT 'a\x00b'", "null character"),
            ("SELECT '\ud800'", "surrogates"),
        ],
    )
    def test_explains_errors(self, sql: str, words: str) -> None:
        with pytest.raises(ComponentError) as caught:
            rows(sql)
        assert words in str(caught.value)

    def test_names_the_columns_there_are(self) -> None:
        with pytest.raises(ComponentError) as caught:
            rows("SELECT salary FROM t")
        assert "t1 (name, Team, pay grade, tags, ok); t2 (id, label); t is t1" in caught.value.remedy

    @pytest.mark.parametrize(
        "sql",
        [
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n",
            "SELECT count(*) FROM " + ", ".join(f"t a{n}" for n in range(20)),
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(hex(randomblob(900000))) FROM n",
        ],
    )
    def test_stops_in_time_and_says_so(self, sql: str) -> None:
        began = time.process_time()
        with pytest.raises(ComponentError, match=r"more than 0\.2 seconds and was stopped"):
            rows(sql, seconds=0.2)
        assert time.process_time() - began < 3

    def test_bounds_rows_and_sizes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ComponentError, match="more than 2 rows"):
            rows("SELECT * FROM t", most_rows=2)
        with pytest.raises(ComponentError, match="too big"):
            rows("SELECT hex(zeroblob(90000000))")
        monkeypatch.setattr(module, "_MOST_BYTES", 1000)
        with pytest.raises(ComponentError, match="more than 0 MB"):
            rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) SELECT 'abcd' FROM n")
        monkeypatch.setattr(module, "MOST_CELLS", 3)
        with pytest.raises(ComponentError, match="table 1 has 3 rows of 5 columns"):
            rows("SELECT 1")

    @given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4))
    def test_gives_back_what_it_got(self, content: list[list[Any]]) -> None:
        assert query([Table(columns=["a", "b c"], rows=content)], "SELECT * FROM t").rows == content


class TestTableQuery:
    async def test_takes_tables_and_lists_of_objects(self) -> None:
        outputs = await StepHarness().run(
            TableQuery,
            {"table": [[{"n": 1}, {"n": 2}], TEAMS], "sql": "SELECT sum(n) AS s, max(label) AS m FROM t, t2"},
        )
        assert outputs == {"table": Table(columns=["s", "m"], rows=[[6, "Beta"]]), "data": [{"s": 6, "m": "Beta"}]}

    async def test_is_a_tool_with_sql_as_its_argument(self) -> None:
        assert list(TableQuery.tool_schema()["properties"]) == ["sql"]  # type: ignore[arg-type]
