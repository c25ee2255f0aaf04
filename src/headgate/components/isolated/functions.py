"""Queries and expressions, each executed in a separate process. Arguments and results are JSON.

The process has limits of memory, processor and wall time, no network, no secrets and no files except its scratch
folder; see `headgate.sandbox`. An error is returned as `{"refused": ...}`, so that it can be raised again by the
caller.
"""

from typing import cast

from pydantic import JsonValue

from headgate.components.conditions import holds
from headgate.components.data.schema_check import problems
from headgate.components.data.selecting import part_of, select
from headgate.components.data.table_sql import query
from headgate.components.expressions import search
from headgate.components.isolated.results import Arguments, isolated, packed
from headgate.sdk import Table


@isolated
def table_query(arguments: Arguments) -> JsonValue:
    """Execute one SELECT: `{"tables", "sql", "most_rows"}`. Returns a table."""
    tables = [Table(columns=table["columns"], rows=table["rows"]) for table in arguments["tables"]]
    return packed(query(tables, arguments["sql"], most_rows=arguments["most_rows"]))


@isolated
def selection(arguments: Arguments) -> JsonValue:
    """Evaluate a JMESPath expression: `{"expression", "value", "subject", "location"}`."""
    return select(
        arguments["expression"], arguments["value"], subject=arguments["subject"], location=arguments["location"]
    )


@isolated
def field(arguments: Arguments) -> JsonValue:
    """Evaluate a JMESPath expression over a value, or over the JSON in a text: `{"value", "path", "subject"}`."""
    return part_of(arguments["value"], arguments["path"], subject=arguments["subject"])


@isolated
def matches(arguments: Arguments) -> JsonValue:
    """Evaluate a regular expression: `{"text", "pattern", "mode", "replacement", "ignore_case"}`. Returns `Matched`."""
    matched = search(
        arguments["text"],
        arguments["pattern"],
        mode=arguments["mode"],
        replacement=arguments["replacement"],
        ignore_case=arguments["ignore_case"],
    )
    return {"matches": matched.matches, "text": matched.text}


@isolated
def condition(arguments: Arguments) -> JsonValue:
    """Evaluate a condition: `{"value", "operator", "compare", "ignore_case"}`. Returns a boolean."""
    return holds(arguments["value"], arguments["operator"], arguments["compare"], ignore_case=arguments["ignore_case"])


@isolated
def schema_problems(arguments: Arguments) -> JsonValue:
    """Validate a value against a JSON Schema: `{"value", "schema"}`. Returns a list of texts."""
    return cast("JsonValue", problems(arguments["value"], arguments["schema"]))
