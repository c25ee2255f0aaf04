"""What the routes of a running server read from `app.state`."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.datastructures import State

from headgate.entrypoints.compose import Parts
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.entrypoints.mcp import door
    from headgate.features.runs.report import service as report
    from headgate.features.runs.widget import bounds
    from headgate.foundation.at_once import AtOnce
else:
    door = lazy_module("headgate.entrypoints.mcp.door")
    report = lazy_module("headgate.features.runs.report.service")
    bounds = lazy_module("headgate.features.runs.widget.bounds")


class Served:
    """What only a server has, beside the parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def mcp_door(self) -> "door.McpDoor":
        """The MCP server."""
        return door.McpDoor(self._parts)

    @cached_property
    def reports_at_work(self) -> "AtOnce":
        """How many reports are made at once."""
        return report.reports_at_work()

    @cached_property
    def widget_answers(self) -> "bounds.OpenAnswers":
        """How many answers of widgets are open."""
        return bounds.OpenAnswers(self._parts.settings.rate_limits.widget_open)

    async def close(self) -> None:
        """Close what was made."""
        if "mcp_door" in vars(self):
            await self.mcp_door.close()


class ServedState(State):
    """What was set on it, then the parts and what only a server has, by name; each is made when it is first read."""

    def __init__(self, parts: Parts, served: Served) -> None:
        super().__init__({"made": (served, parts)})

    def __getattr__(self, key: Any) -> Any:  # noqa: ANN401 - Starlette's own signature
        """The value. Raises `AttributeError`."""
        if key in self._state:
            return self._state[key]
        served, parts = self._state["made"]
        return getattr(served if hasattr(Served, key) else parts, key)
