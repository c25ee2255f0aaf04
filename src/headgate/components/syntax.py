"""Syntax checks before a run, with the same messages as during a run."""

from collections.abc import Callable, Mapping

from headgate.components.data.selecting import parse_expression
from headgate.components.data.table_sql import check_sql
from headgate.components.expressions import compiled
from headgate.components.schedule import checked_cron
from headgate.components.web.http_headers import checked_name
from headgate.components.web.requests import checked_url
from headgate.graph.template import Syntax
from headgate.sdk import ComponentError


def syntax_fault(syntax: Syntax, text: str, *, subject: str, tables: int = 1) -> ComponentError | None:
    """Return what is wrong with a text in a language; None when it is valid.

    Args:
        syntax: The language.
        text: The text, without `{{...}}`.
        subject: The node, for messages.
        tables: For SQL: the number of tables.
    """
    checks: Mapping[Syntax, Callable[[], object]] = {
        "url": lambda: checked_url(text, subject=subject),
        "sql": lambda: check_sql(text, tables=tables, subject=subject),
        "jmespath": lambda: parse_expression(text, subject=subject),
        "re2": lambda: compiled(text, ignore_case=False, subject=subject),
        "cron": lambda: checked_cron(text, subject=subject),
    }
    return _fault(checks[syntax]) if syntax in checks else None


def header_fault(name: str, *, subject: str) -> ComponentError | None:
    """Return what is wrong with the name of a header; None when it is valid."""
    return _fault(lambda: checked_name(name, component=subject))


def _fault(check: Callable[[], object]) -> ComponentError | None:
    try:
        check()
    except ComponentError as error:
        return error
    return None
