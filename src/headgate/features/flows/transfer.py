"""Flows as files. Importing parses text; it never runs anything."""

from collections.abc import Sequence
from typing import Literal, Protocol

import orjson
from pydantic import JsonValue, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.foundation.errors import Invalid
from headgate.graph.layout import arrange_unplaced
from headgate.graph.model import Flow
from headgate.graph.picture import picture
from headgate.graph.spec import print_spec, read_spec
from headgate.graph.spec_read import read_flow
from headgate.graph.template import Catalog

FORMAT_KEY = "headgate_flow"
FORMAT = 1
Format = Literal["spec", "json", "svg"]
MEDIA_TYPES = {"spec": "text/plain", "json": "application/json", "svg": "image/svg+xml"}


TRIGGERS_KEY = "triggers"
MOST_TRIGGERS = 100


class Triggers(Protocol):
    """What starts a flow by itself, as part of its file."""

    async def exported(self, session: AsyncSession, principal: Principal, flow_id: str) -> list[JsonValue]:
        """Return the triggers of a flow without secrets, files and owner."""

    async def problems(self, session: AsyncSession, principal: Principal, flow_id: str) -> list[str]:
        """Return where the triggers of a flow that are on do not fit its form, in words."""
        ...

    async def imported(
        self, session: AsyncSession, principal: Principal, flow_id: str, triggers: Sequence[JsonValue]
    ) -> list[str]:
        """Add triggers to a flow, switched off. Returns what was omitted or is to be completed, in words.

        Raises `SpecError` for those of a text that are not valid.
        """


def export_flow(
    flow: Flow,
    *,
    format: Format,  # noqa: A002 - the API's word
    catalog: Catalog | None = None,
    triggers: Sequence[JsonValue] = (),
) -> str:
    """Return the flow as spec text or as JSON with positions, both with its triggers, or as a picture."""
    if format == "spec":
        return print_spec(flow, triggers)
    if format == "svg":
        return picture(flow, catalog, title=flow.name)
    content = {FORMAT_KEY: FORMAT} | flow.model_dump(mode="json", exclude_defaults=True) | {"name": flow.name}
    if triggers:
        content[TRIGGERS_KEY] = list(triggers)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def import_flow(content: str, catalog: Catalog) -> Flow:
    """Parse the output of `export_flow`. Raises `Invalid` with the location of the error."""
    content = content.removeprefix("\ufeff")  # a byte order mark, as written on Windows
    if not content.lstrip().startswith("{"):
        return read_spec(content, catalog, with_triggers=True)
    try:
        data = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The file is not valid JSON: {error}.", remedy="Export the flow again.") from error
    if not isinstance(data, dict) or data.pop(FORMAT_KEY, None) != FORMAT:
        raise Invalid(
            "The file is JSON but not a Headgate flow.",
            remedy=(f'A flow has "{FORMAT_KEY}": {FORMAT} at the top level.'),
        )
    data.pop(TRIGGERS_KEY, None)
    try:
        return arrange_unplaced(Flow.model_validate(data), catalog)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The flow is not valid at '{location}': {reason}.", remedy="Correct that value.") from error


def triggers_in(content: str) -> list[JsonValue]:
    """Return the triggers of a file that `import_flow` accepts; those of a text know their lines. Raises `Invalid`."""
    content = content.removeprefix("\ufeff")
    if content.lstrip().startswith("{"):
        triggers = orjson.loads(content).get(TRIGGERS_KEY, [])
    else:
        triggers = list[JsonValue](read_flow(content, with_triggers=True).triggers)
    if not isinstance(triggers, list) or len(triggers) > MOST_TRIGGERS:
        raise Invalid(f"The triggers are no list of at most {MOST_TRIGGERS}.", remedy="Export the flow again.")
    return triggers
