"""Checks of text that is written in a language of its own: found before a run, in the words that the run would use."""

from collections.abc import Callable, Mapping

from headgate.components.expressions import compiled
from headgate.components.http_headers import checked_name
from headgate.components.selecting import parse_expression
from headgate.components.sql import check_sql
from headgate.components.web import checked_url
from headgate.graph.template import Syntax
from headgate.sdk import ComponentError


def syntax_fault(syntax: Syntax, text: str, *, who: str, tables: int = 1) -> ComponentError | None:
    """What is wrong with a text in a language; None when nothing is.

    Args:
        syntax: The language.
        text: The text, without `{{...}}`.
        who: What messages call the node.
        tables: For SQL: how many tables there are.
    """
    checks: Mapping[Syntax, Callable[[], object]] = {
        "url": lambda: checked_url(text, who=who),
        "sql": lambda: check_sql(text, tables=tables, who=who),
        "jmespath": lambda: parse_expression(text, who=who),
        "re2": lambda: compiled(text, ignore_case=False, who=who),
    }
    return _fault(checks[syntax]) if syntax in checks else None


def header_fault(name: str, *, who: str) -> ComponentError | None:
    """What is wrong with the name of a header; None when nothing is."""
    return _fault(lambda: checked_name(name, component=who))


def _fault(check: Callable[[], object]) -> ComponentError | None:
    try:
        check()
    except ComponentError as error:
        return error
    return None
