"""Reads descriptions of APIs, each in a separate process; see `functions`."""

import base64

import yaml  # noqa: F401 - loaded before the process is locked down
from pydantic import JsonValue

from headgate.components.isolated.results import Arguments, isolated
from headgate.components.readers.api.reading import read_api
from headgate.graph.expressions import re2

re2()


@isolated
def api_description(arguments: Arguments) -> JsonValue:
    """Read a description of an API: `{"content" (base64)}`. Returns an `ApiDescription`."""
    return read_api(base64.b64decode(arguments["content"])).as_json()
