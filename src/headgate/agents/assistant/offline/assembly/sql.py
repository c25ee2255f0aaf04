"""SQL pieces from what was said; every name and value is quoted."""

from headgate.agents.assistant.offline.assembly.columns import column_of_value, known_column, written_column
from headgate.agents.assistant.offline.grammar.condition import Condition

_NUMERIC = {"over": ">", "under": "<", "least": ">=", "most": "<="}
_TEXTUAL_COLUMNS = frozenset({"licence", "summary", "homepage", "name", "version"})


def name(column: str, columns: tuple[str, ...] | None) -> str:
    """A column as it stands in SQL: plain when known, else `t."price"`, which can never be taken for a text."""
    if columns is not None and column in columns and column.isidentifier():
        return column
    quoted = column.replace('"', '""')
    return f'"{quoted}"' if columns is not None and column in columns else f't."{quoted}"'


def text(value: object) -> str:
    """A value as an SQL literal."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def alias(word: str) -> str:
    """A name for a computed column."""
    plain = "_".join(word.lower().split())
    return plain if plain.isidentifier() else '"' + word.replace('"', '""') + '"'


def resolve(word: str, columns: tuple[str, ...] | None) -> str:
    """The column a word means, in a table whose columns are known or not; empty when it is none of the known."""
    return known_column(word, columns) if columns is not None else written_column(word)


def where(condition: Condition, columns: tuple[str, ...] | None, *, keep: bool, fallback: str = "") -> str | None:
    """A WHERE clause; None when no column can be meant."""
    parts = [_one(each, columns, fallback) for each in (condition, *condition.others)]
    if any(part is None for part in parts):
        return None
    glue = " OR " if condition.joined == "or" else " AND "
    joined = glue.join(part for part in parts if part is not None)
    joined = f"({joined})" if len(parts) > 1 else joined
    return joined if keep else f"NOT ({joined})"


def column_for(condition: Condition, columns: tuple[str, ...] | None, fallback: str) -> str:
    """The column a condition compares: the one named, else the one its value belongs to, else the fallback."""
    if condition.column:
        found = resolve(condition.column, columns) or next(
            (c for w in condition.column.split() if (c := resolve(w, columns))), ""
        )
        if found:
            return found
    if columns is not None and (found := column_of_value(condition.value, columns)):
        return found
    if columns is not None and "name" in columns and condition.operator in {"starts", "ends", "contains"}:
        return "name"
    return fallback


def _one(condition: Condition, columns: tuple[str, ...] | None, fallback: str) -> str | None:
    column = column_for(condition, columns, fallback)
    if not column:
        return None
    quoted = name(column, columns)
    test = _test(condition, quoted, known=columns is not None and column in _TEXTUAL_COLUMNS)
    return f"NOT ({test})" if condition.negated else test


def _test(condition: Condition, quoted: str, *, known: bool) -> str:
    value = condition.value
    if condition.operator == "empty":
        return f"coalesce({quoted}, '') IN ('', 'Unknown', 'UNKNOWN')" if known else f"coalesce({quoted}, '') = ''"
    if condition.operator == "between":
        return f"CAST({quoted} AS REAL) BETWEEN {text(value)} AND {text(condition.upper)}"
    if condition.operator in _NUMERIC:
        measured = f"length({quoted})" if condition.measure == "length" else quoted
        number = measured if measured.endswith(")") or quoted.isidentifier() else f"CAST({measured} AS REAL)"
        return f"{number} {_NUMERIC[condition.operator]} {text(value)}"
    if condition.operator == "is" and isinstance(value, int | float):
        return f"{quoted} = {text(value)}"
    if condition.operator == "is" and not (known and quoted == "licence"):
        return f"{quoted} = {text(value)} COLLATE NOCASE"
    escaped = str(value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    start, end = {"starts": ("", "%"), "ends": ("%", "")}.get(condition.operator, ("%", "%"))
    clause = f"{quoted} LIKE {text(start + escaped + end)}"
    return clause if escaped == str(value) else clause + " ESCAPE '\\'"
