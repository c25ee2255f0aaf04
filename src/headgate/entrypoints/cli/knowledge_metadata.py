"""Metadata of documents on the command line: its options, and `headgate knowledge fields`."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
import typer
from rich.markup import escape

from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.output import JsonFlag, print_rows
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge.metadata.repository import list_fields
from headgate.foundation.errors import Invalid
from headgate.sdk.coerce import text_of

MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        help="KEY=VALUE: a number, true, false, a date such as 2026-01-31, or a text; repeat it.",
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Metadata that documents must have: KEY=VALUE, KEY=A|B, KEY>=VALUE, KEY<=VALUE, KEY or !KEY; repeat it.",
    ),
]
_CONDITION = re.compile(r"(?P<none>!?)(?P<key>\w[\w.-]*)(?:(?P<test>>=|<=|=)(?P<value>.*))?", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
SHOWN = 5
"""Values of a key that are shown."""


def metadata_of(options: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the metadata of options; None without one. Raises `Invalid`."""
    values = {}
    for option in options or ():
        key, separator, value = option.partition("=")
        if not separator:
            raise Invalid(f"'{option[:100]}' is not of the form KEY=VALUE.", remedy="For example: year=2026.")
        values[key.strip()] = _value(value)
    return values or None


def conditions_of(options: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the conditions of options, the bounds of a key as one range. Raises `Invalid`."""
    conditions: list[dict[str, Any]] = []
    ranges: dict[str, dict[str, Any]] = {}
    for option in options or ():
        match = _CONDITION.fullmatch(option.strip())
        if match is None or (match["none"] and match["test"]):
            raise Invalid(f"'{option[:100]}' is no condition.", remedy="For example: team=sales, year>=2024, !draft.")
        key, value = match["key"], match["value"]
        if match["test"] is None:
            conditions.append({"key": key, "exists": not match["none"]})
        elif match["test"] == "=":
            choices = [_value(choice) for choice in value.split("|")]
            conditions.append({"key": key, "in": choices} if len(choices) > 1 else {"key": key, "equals": choices[0]})
        else:
            if key not in ranges:
                ranges[key] = {"key": key}
                conditions.append(ranges[key])
            ranges[key]["at_least" if match["test"] == ">=" else "at_most"] = _value(value)
    return conditions


def _value(text: str) -> bool | float | str:
    if text in {"true", "false"}:
        return text == "true"
    value: float | str = orjson.loads(text) if _NUMBER.fullmatch(text) and not re.match(r"-?0\d", text) else text
    return value


def fields(which: BaseArgument, json: JsonFlag = False) -> None:
    """List the metadata of the documents of a knowledge base, by which searches can be filtered."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.reading() as session:
            listed = await list_fields(session, acting(), base)
        rows = [(escape(item.key), item.kind, item.documents, escape(_shown(item.values))) for item in listed]
        none = "No document has metadata. Add it: headgate knowledge change BASE DOCUMENT --metadata KEY=VALUE"
        print_rows(listed, ("key", "type", "documents", "values"), rows, json=json, none=none)

    with_installation(work)


def _shown(values: Sequence[bool | float | str]) -> str:
    return ", ".join(text_of(value) for value in values[:SHOWN]) + (", …" if len(values) > SHOWN else "")
