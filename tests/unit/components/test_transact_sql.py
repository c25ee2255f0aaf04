"""Which SQL is one SELECT for SQL Server, which needs no semicolon between statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.sql.transact_sql import one_select
from headgate.sdk import ComponentError

ALLOWED = [
    "SELECT 1",
    "  \n;WITH a AS (SELECT 1 AS n) SELECT n FROM a;  ",
    "select top (5) [update], \"delete\", 'drop it', N'åäö' FROM [dbo].[insert]]ed] -- drop",
    "SELECT CASE WHEN a = 1 THEN 2 ELSE 3 END, 0x1F, 1.5e-3, .5, a.b, -1, $1, @@VERSION FROM #t AS x",
    "SELECT a FROM t WHERE b = :delete AND at > DATEADD(day, -1, :at) ORDER BY a OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY",
    "SELECT updated_at, [value], åldrar, inserted_by$x FROM deleted_rows OPTION (RECOMPILE)",
    "SELECT '/* ' /* ' -- */ + 'it''s' FROM t",
    "SELECT JSON_VALUE(x, '$.update') FROM OPENJSON(:j)",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "SELECT next, value FROM t",
]
REFUSED = [
    "",
    "-- only a comment",
    "DELETE FROM t",
    "SELECT 1; DELETE FROM t",
    "SELECT 1 DELETE FROM t",
    "SELECT 1DELETE FROM t",
    "SELECT 1eDELETE FROM t",
    "SELECT 0x1DELETE FROM t",
    "SELECT $DELETE FROM t",
    "SELECT £DELETE FROM t",
    "SELECT 1\u00a0DELETE FROM t",
    "SELECT 1 ＤＥＬＥＴＥ FROM t",
    "SELECT 1 ınsert t VALUES (1)",
    "SELECT 1 AS a\rDELETE FROM t",
    "SELECT 1 -- '\nDELETE FROM t --'",
    "SELECT 1 /* ' */ DELETE FROM t --'",
    "SELECT 1 /* /* ' */ */ DELETE FROM t --'",
    "SELECT 1 /* */*/ DELETE FROM t",
    "SELECT 1 /*",
    "SELECT 'a",
    "SELECT 'a'' DELETE FROM t",
    'SELECT "a\' " DELETE FROM t --\'"',
    "SELECT [a]] DELETE FROM t",
    "SELECT [a'] DELETE FROM t --']",
    "SELECT 1 \\' DELETE FROM t --'",
    "SELECT * INTO copy FROM t",
    "WITH a AS (SELECT 1 AS n) DELETE FROM t",
    "WITH a AS (SELECT 1 AS n) INSERT INTO t SELECT n FROM a",
    "MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE;",
    "EXEC xp_cmdshell 'dir'",
    "SELECT 1 EXEC('DELETE FROM t')",
    "sp_executesql N'DELETE FROM t'",
    "{call p}",
    "SELECT {fn NOW()}",
    "SELECT * FROM OPENROWSET('MSOLEDBSQL', 'server=x', 'DELETE FROM t')",
    "SELECT * FROM OPENQUERY(other, 'DELETE FROM t')",
    "SELECT * FROM OPENDATASOURCE('a', 'b').c.d.e",
    "SELECT NEXT VALUE FOR numbers",
    "SELECT NEXT /* */ VALUE FOR numbers",
    "SELECT 1 WAITFOR DELAY '1:00'",
    "SELECT 1 COMMIT DELETE FROM t",
    "SELECT 1 COMMIT TRAN",
    "SELECT 1 SHUTDOWN",
    "DECLARE @a int SELECT @a",
    "SET NOCOUNT ON SELECT 1",
    "IF 1 = 1 SELECT 1",
    "BEGIN TRAN SELECT 1",
    "USE master SELECT 1",
    "VALUES (1)",
    "SELECT 1\x00DELETE FROM t",
    "SELECT 1²DELETE FROM t",
    "SELECT a²b FROM t",
]


@pytest.mark.parametrize("sql", ALLOWED)
def test_one_select_is_allowed(sql: str) -> None:
    one_select(sql)


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_else_is_refused(sql: str) -> None:
    with pytest.raises(ComponentError, match="not one SELECT"):
        one_select(sql)


def test_comments_are_not_sent() -> None:
    assert one_select("SELECT 'a -- b' /* it's */, 1 -- 'x\nFROM t") == "SELECT 'a -- b'  , 1  \nFROM t"
    assert "/*" not in one_select("SELECT 1 /**/ / /**/ 2")


@given(st.text(alphabet="'\"[]-/*\n\\:; aT1$@#", max_size=12), st.text(alphabet="'\"[]-/*\n\\:; aT1$@#", max_size=12))
def test_a_statement_is_found_unless_it_is_quoted(before: str, after: str) -> None:
    """Whatever surrounds it: the word is refused, or inside one quoted piece of what is sent."""
    try:
        sent = one_select(f"SELECT 1 {before} DELETE FROM t {after}")
    except ComponentError:
        return
    if "DELETE" in sent:
        assert _in_quotes(sent, sent.index("DELETE"))


def _in_quotes(sql: str, place: int) -> bool:
    """Read as the server does, character by character; there are no comments."""
    assert "--" not in _unquoted(sql)
    assert "/*" not in _unquoted(sql)
    return _unquoted(sql)[place] == "\x00"


def _unquoted(sql: str) -> str:
    """The SQL with NUL for each character in quotes or brackets."""
    ends = {"'": "'", '"': '"', "[": "]"}
    shown, end, index = list[str](), "", 0
    while index < len(sql):
        sign = sql[index]
        if end and sign == end and sql[index + 1 : index + 2] == end:
            shown += ["\x00", "\x00"]
            index += 2
            continue
        if end:
            shown.append("\x00")
            end = "" if sign == end else end
        else:
            end = ends.get(sign, "")
            shown.append("\x00" if end else sign)
        index += 1
    assert not end
    return "".join(shown)
