"""SQL of SQL Server: which statements only read, and statements that write rows."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.foundation.lazy import lazy_module
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    import sqlalchemy as sa
else:
    sa = lazy_module("sqlalchemy")

_BATCH = 1_000
_LEXEMES = re.compile(
    r"""(?P<comment>--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/)
    |(?P<quoted>'[^']*'|"[^"]*"|\[(?:[^\]]|\]\])*\])
    |(?P<value>(?<![:\w\\]):\w+)
    |(?P<word>[^\W\d][\w@\#$]*|[@\#][\w@\#$]*)
    |(?P<number>0x[0-9a-f]*|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?![\w@\#$])
    |(?P<sign>[ \t\r\n()*,.+%=<>!&|^~?:$-]|/(?!\*)|\\(?=:))
    |(?P<end>;\s*\Z)""",
    re.VERBOSE | re.IGNORECASE,
)
"""None of them: other characters, a comment in a comment or without its end, an open quote, a letter after a number."""
_STATEMENTS = frozenset(
    {
        *("alter", "backup", "begin", "break", "bulk", "checkpoint", "close", "commit", "continue", "create", "dbcc"),
        *(
            "deallocate",
            "declare",
            "delete",
            "deny",
            "disk",
            "drop",
            "dump",
            "exec",
            "execute",
            "exit",
            "goto",
            "grant",
        ),
        *("if", "insert", "into", "kill", "lineno", "load", "merge", "open", "opendatasource", "openquery"),
        *("openrowset", "print", "proc", "procedure", "raiserror", "readtext", "reconfigure", "restore", "return"),
        *("revert", "revoke", "rollback", "save", "set", "setuser", "shutdown", "tran", "transaction", "trigger"),
        *("truncate", "update", "updatetext", "use", "waitfor", "while", "writetext"),
    }
)
"""Reserved words that begin or make statements that change something, and functions that run a statement elsewhere.

The server takes a reserved word for a name only in quotes or brackets."""
_READS = ("CONNECT", "SELECT", "SHOWPLAN", "UNMASK", "VIEW ")
_ON_TABLE = (
    "SELECT '{right}' FROM sys.objects WHERE type IN ('U', 'V') AND "
    "HAS_PERMS_BY_NAME(QUOTENAME(SCHEMA_NAME(schema_id)) + '.' + QUOTENAME(name), 'OBJECT', '{right}') = 1"
)
_RIGHTS = " UNION ".join(
    [
        "SELECT permission_name FROM sys.fn_my_permissions(NULL, 'DATABASE')",
        *(_ON_TABLE.format(right=right) for right in ("INSERT", "UPDATE", "DELETE")),
    ]
)


def one_select(sql: str) -> str:
    """Return SQL without its comments. Raises `ComponentError` for what may be more than one SELECT.

    SQL Server has no read-only transaction, and needs no semicolon between statements: the words that begin any other
    statement are refused outside quotes. What is sent is read here in one way only, so the server cannot read it in
    another.
    """
    parts, words, position = list[str](), list[str](), 0
    text = sql.strip().removeprefix(";")
    while position < len(text):
        lexeme = _LEXEMES.match(text, position)
        if lexeme is None or (lexeme["word"] and not all(sign.isascii() or sign.isalpha() for sign in lexeme[0])):
            raise _refused(f"it cannot be read at '{text[position : position + 20]}'")
        position = lexeme.end()
        parts.append(" " if lexeme["comment"] else lexeme[0])
        if lexeme["word"]:
            words.append(unicodedata.normalize("NFKC", lexeme[0]).casefold().replace("ı", "i"))
    refused = next((word for word in words if word in _STATEMENTS), "")
    if not refused and ("next", "value", "for") in zip(words, words[1:], words[2:], strict=False):
        refused = "next value for"
    if refused:
        raise _refused(f"it has {refused.upper()}")
    if not words or words[0] not in {"select", "with"}:
        raise _refused("it does not begin with SELECT or WITH")
    return "".join(parts)


def _refused(reason: str) -> ComponentError:
    return ComponentError(
        f"SqlQuery: the SQL is not one SELECT: {reason}.",
        remedy="Write one SELECT without SELECT INTO; put names that are words of SQL into [brackets].",
        field="sql",
    )


def rights_to_change(database: "sa.Connection") -> list[str]:
    """Return the rights of the user in the database that are more than reading, sorted."""
    rights = {str(row[0]) for row in database.exec_driver_sql(_RIGHTS)}
    return sorted(right for right in rights if not right.startswith(_READS))


def write_records(
    database: "sa.Connection",
    table: "sa.Table",
    columns: Sequence[str],
    keys: Sequence[str] | None,
    records: Sequence[Mapping[str, JsonValue]],
) -> None:
    """Insert records; with keys, update those whose key exists. A key that appears meanwhile waits: HOLDLOCK.

    Texts for columns of bytes are hexadecimal, as they are read. Names come from the database.
    """
    quoted = database.dialect.identifier_preparer.quote
    target = database.dialect.identifier_preparer.format_table(table)
    names = {column: quoted(column) for column in columns}
    values = {column: _value(table, column, f"p{index}") for index, column in enumerate(columns)}
    row = f"({', '.join(names.values())}) VALUES ({', '.join(values.values())})"
    if keys is None:
        sql = f"INSERT INTO {target} {row}"
    else:
        same = " AND ".join(f"target.{names[key]} = {values[key]}" for key in keys)
        changes = ", ".join(f"{names[column]} = {values[column]}" for column in columns if column not in keys)
        update = f"WHEN MATCHED THEN UPDATE SET {changes} " if changes else ""
        sql = (
            f"MERGE INTO {target} WITH (HOLDLOCK) AS target USING (SELECT 1 AS one) AS source ON {same} "
            f"{update}WHEN NOT MATCHED THEN INSERT {row};"
        )
    bound = [{f"p{index}": record.get(column) for index, column in enumerate(columns)} for record in records]
    numbered = any(table.columns[column].identity is not None for column in columns)
    if numbered:
        database.exec_driver_sql(f"SET IDENTITY_INSERT {target} ON")
    for begin in range(0, len(bound), _BATCH):
        database.exec_driver_sql(sql, bound[begin : begin + _BATCH])
    if numbered:
        database.exec_driver_sql(f"SET IDENTITY_INSERT {target} OFF")


def _value(table: "sa.Table", column: str, name: str) -> str:
    """Return the expression for a bound value of a column."""
    binary = isinstance(table.columns[column].type, sa.types._Binary)  # noqa: SLF001 - the class of all of them
    return f"CONVERT(varbinary(max), %({name})s, 2)" if binary else f"%({name})s"
