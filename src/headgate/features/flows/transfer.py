"""Flows as files. Importing reads text; it never runs anything."""

from typing import Literal

import orjson
from pydantic import ValidationError

from headgate.foundation.errors import Invalid
from headgate.graph.layout import arrange
from headgate.graph.model import Flow
from headgate.graph.picture import picture
from headgate.graph.spec import print_spec, read_spec
from headgate.graph.template import Catalog

FORMAT_KEY = "headgate_flow"
FORMAT = 1
Format = Literal["spec", "json", "svg"]
MEDIA_TYPES = {"spec": "text/plain", "json": "application/json", "svg": "image/svg+xml"}


def export_flow(flow: Flow, *, format: Format, catalog: Catalog | None = None) -> str:  # noqa: A002 - the API's word
    """The flow as spec text, as JSON with positions, or as a picture."""
    if format == "spec":
        return print_spec(flow)
    if format == "svg":
        return picture(flow, catalog, title=flow.name)
    content = {FORMAT_KEY: FORMAT} | flow.model_dump(mode="json", exclude_defaults=True) | {"name": flow.name}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def import_flow(content: str, catalog: Catalog) -> Flow:
    """Read what `export_flow` wrote. Raises `Invalid` saying where it is wrong."""
    content = content.removeprefix("\ufeff")  # what Windows puts before text
    if not content.lstrip().startswith("{"):
        return read_spec(content, catalog)
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The file is not valid JSON: {error}.", remedy="Export the flow again.") from error
    if not isinstance(found, dict) or found.pop(FORMAT_KEY, None) != FORMAT:
        raise Invalid(
            "The file is JSON but not a Headgate flow.", remedy=f'A flow has "{FORMAT_KEY}": {FORMAT} at the top.'
        )
    try:
        return _apart(Flow.model_validate(found), catalog)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The flow is wrong at '{where}': {said}.", remedy="Correct it there.") from error


def _apart(flow: Flow, catalog: Catalog) -> Flow:
    """Laid out where the file says of no node where it stands: they would lie on one another, and only one be seen."""
    said = any("position" in node.model_fields_set for node in flow.nodes)
    return flow if said else arrange(flow, catalog)
