"""Parsing of source code in a separate process. Arguments and results are JSON."""

from typing import cast

from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated
from headgate.components.readers.code import sections_of


@isolated
def code_sections(arguments: Arguments) -> JsonValue:
    """Find functions and classes: `{"text", "language"}`. Returns offset and name of each part; null: no parse."""
    return cast("JsonValue", sections_of(arguments["text"], arguments["language"]))
