"""The content of `app.state` of a running server."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.datastructures import State

from headgate.entrypoints.access_control import AccessControl
from headgate.entrypoints.compose import Parts
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.entrypoints.mcp import entry
    from headgate.features.runs.quotas.service import Quotas
    from headgate.features.runs.report import service as report
    from headgate.features.runs.widget import bounds
    from headgate.foundation.at_once import AtOnce
else:
    entry = lazy_module("headgate.entrypoints.mcp.entry")
    report = lazy_module("headgate.features.runs.report.service")
    bounds = lazy_module("headgate.features.runs.widget.bounds")


class Served:
    """The parts that only a server has, in addition to `Parts`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def mcp_entry(self) -> "entry.McpEntry":
        """The MCP server."""
        return entry.McpEntry(self._parts)

    @cached_property
    def reports_at_work(self) -> "AtOnce":
        """Limits concurrent reports."""
        return report.reports_at_work()

    @cached_property
    def widget_answers(self) -> "bounds.OpenAnswers":
        """Limits open widget responses."""
        return bounds.OpenAnswers(self._parts.settings.rate_limits.widget_open)

    @property
    def quotas(self) -> "Quotas":
        """Limits of organisations, spaces and visitors."""
        return self._parts.services.quotas

    async def close(self) -> None:
        """Close the parts that were created."""
        if "mcp_entry" in vars(self):
            await self.mcp_entry.close()


class ServedState(State):
    """Values set on it, then `Served`, `AccessControl` and `Parts` by name; each part is created when first read."""

    def __init__(self, parts: Parts, served: Served, access_control: AccessControl) -> None:
        super().__init__({"parts": (served, access_control, parts)})

    def __getattr__(self, key: Any) -> Any:  # noqa: ANN401 - Starlette's own signature
        """The value. Raises `AttributeError`."""
        if key in self._state:
            return self._state[key]
        served, access_control, parts = self._state["parts"]
        return getattr(next((source for source in (served, access_control) if hasattr(type(source), key)), parts), key)
