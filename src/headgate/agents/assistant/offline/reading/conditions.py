"""Conditions on a row or a line: what they mean in SQL, and how they are restated."""

import re
from dataclasses import dataclass, replace

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message

_SIGNS = {"gt": ">", "lt": "<", "ge": ">=", "le": "<="}
COMPARING = frozenset({*_SIGNS, "between"})
"""Operators that compare with a number or a date."""
OPPOSITE = {
    "eq": "ne", "contains": "lacks", "empty": "filled", "starts": "unstarted", "gt": "le", "lt": "ge", "ge": "lt",
    "le": "gt", "ne": "eq", "lacks": "contains", "filled": "empty", "unstarted": "starts",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Test:
    """One comparison. Without a column it is about the line, or the text, as a whole."""

    column: str
    operator: str
    value: str | float = ""
    upper: str | float = ""
    also: tuple[str, ...] = ()
    """Further values of which one may be there: `WARN or ERROR`."""

    def describe(self, language: Language) -> str:
        """The comparison in words."""
        words = message(f"test_{self.operator}", language)
        if self.operator in {"empty", "filled"}:
            return f"{self.column} {words}".strip()
        value = f" {message('or', language)} ".join([_shown(self.value), *(_shown(each) for each in self.also)])
        upper = f" {message('and', language)} {_shown(self.upper)}" if self.operator == "between" else ""
        unit = f" {message('characters', language)}" if self.operator in {"longer", "shorter"} else ""
        return f"{self.column} {words} {value}{upper}{unit}".strip()

    def sql(self, default: str) -> str:
        """The comparison in SQL, on `default` where it names no column."""
        column = quoted_column(self.column or default)
        if self.also:
            alternatives = (replace(self, value=value, also=()) for value in (self.value, *self.also))
            glue = " AND " if self.operator in {"ne", "lacks", "unstarted"} else " OR "
            return "(" + glue.join(each.sql(default) for each in alternatives) + ")"
        if self.operator in {"empty", "filled"}:
            return f"trim(coalesce({column}, '')) {'=' if self.operator == 'empty' else '<>'} ''"
        if self.operator in {"longer", "shorter"}:
            return f"length({column}) {'>' if self.operator == 'longer' else '<'} {self.value}"
        if self.operator == "between":
            return f"({self._compared(column, '>=', self.value)} AND {self._compared(column, '<=', self.upper)})"
        if self.operator in _SIGNS:
            return self._compared(column, _SIGNS[self.operator], self.value)
        return self._matched(column)

    def _compared(self, column: str, sign: str, value: str | float) -> str:
        if isinstance(value, str):
            return f"{column} {sign} {literal(value)}"
        return f"({column} <> '' AND CAST({column} AS REAL) {sign} {value})"

    def _matched(self, column: str) -> str:
        if self.operator in {"eq", "ne"}:
            sign = "=" if self.operator == "eq" else "<>"
            if isinstance(self.value, int | float):
                return f"coalesce(CAST(nullif({column}, '') AS REAL), '') {sign} {self.value}"
            return f"coalesce({column}, '') {sign} {literal(self.value)} COLLATE NOCASE"
        start, end = {"starts": ("", "%"), "unstarted": ("", "%"), "ends": ("%", "")}.get(self.operator, ("%", "%"))
        escaped = str(self.value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        negated = "NOT " if self.operator in {"lacks", "unstarted"} else ""
        return f"coalesce({column}, '') {negated}LIKE {literal(start + escaped + end)} ESCAPE '\\'"


@dataclass(frozen=True, slots=True)
class Condition:
    """One or several comparisons, all of which (`and`) or one of which (`or`) must hold."""

    tests: tuple[Test, ...]
    joined: str = "and"

    def describe(self, language: Language) -> str:
        """The condition in words."""
        glue = f" {message(self.joined, language)} "
        return glue.join(test.describe(language) for test in self.tests)

    def sql(self, default: str = "") -> str:
        """The condition in SQL."""
        glue = " AND " if self.joined == "and" else " OR "
        parts = [test.sql(default) for test in self.tests]
        return parts[0] if len(parts) == 1 else "(" + glue.join(parts) + ")"

    @property
    def negated(self) -> "Condition":
        """What holds where this does not."""
        tests = tuple(_opposite(test) for test in self.tests)
        return Condition(tests, "or" if self.joined == "and" else "and")


def _opposite(test: Test) -> Test:
    if test.operator not in OPPOSITE:
        raise KeyError(test.operator)
    return replace(test, operator=OPPOSITE[test.operator])


def quoted_column(name: str) -> str:
    """A column in SQL; with its table, so that it is never taken for a text."""
    return 't."' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """A value in SQL."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def _shown(value: str | float) -> str:
    return f"'{value}'" if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) else f"{value}"
