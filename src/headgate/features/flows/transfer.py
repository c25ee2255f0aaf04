"""Flows as files. Importing parses text; it never runs anything."""

from typing import Literal

import orjson
from pydantic import ValidationError

from headgate.foundation.errors import Invalid
from headgate.graph.layout import arrange_unplaced
from headgate.graph.model import Flow
from headgate.graph.picture import picture
from headgate.graph.spec import print_spec, read_spec
from headgate.graph.template import Catalog

FORMAT_KEY = "headgate_flow"
FORMAT = 1
Format = Literal["spec", "json", "svg"]
MEDIA_TYPES = {"spec": "text/plain", "json": "application/json", "svg": "image/svg+xml"}


def export_flow(flow: Flow, *, format: Format, catalog: Catalog | None = None) -> str:  # noqa: A002 - the API's word
    """Return the flow as spec text, as JSON with positions, or as a picture."""
    if format == "spec":
        return print_spec(flow)
    if format == "svg":
        return picture(flow, catalog, title=flow.name)
    content = {FORMAT_KEY: FORMAT} | flow.model_dump(mode="json", exclude_defaults=True) | {"name": flow.name}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def import_flow(content: str, catalog: Catalog) -> Flow:
    """Parse the output of `export_flow`. Raises `Invalid` with the location of the error."""
    content = content.removeprefix("\ufeff")  # a byte order mark, as written on Windows
    if not content.lstrip().startswith("{"):
        return read_spec(content, catalog)
    try:
        data = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The file is not valid JSON: {error}.", remedy="Export the flow again.") from error
    if not isinstance(data, dict) or data.pop(FORMAT_KEY, None) != FORMAT:
        raise Invalid(
            "The file is JSON but not a Headgate flow.",
            remedy=(f'A flow has "{FORMAT_KEY}": {FORMAT} at the top level.'),
        )
    try:
        return arrange_unplaced(Flow.model_validate(data), catalog)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The flow is not valid at '{location}': {reason}.", remedy="Correct that value.") from error
