"""Every operation with the permission it needs, in the order a client sees them."""

from headgate.features.access.permissions import is_of_space
from headgate.features.access.principal import Principal
from headgate.toolkit.stored import keeping, running, searching, testing, viewing
from headgate.toolkit.stored.batching import batch_over
from headgate.toolkit.stored.editing import on_flow, personal
from headgate.toolkit.stored.operation import Kind, Operation, operation
from headgate.toolkit.tools import TOOLS

_ON_FLOW: dict[str, Kind] = {
    "build_flow": "remove",
    "add_component": "add",
    "remove_component": "remove",
    "connect_components": "add",
    "disconnect_components": "remove",
    "configure_component": "set",
    "rename_component": "set",
    "describe_flow_io": "read",
}
"""Tools of the toolkit that work on the draft of a stored flow."""
_PERSONAL: dict[str, Kind] = {
    "read_file": "read",
    "glob_search": "read",
    "grep_search": "read",
    "write_file": "remove",
    "edit_file": "remove",
    "register_component": "add",
}
"""Tools of the toolkit that are about the person."""
_BUILD_FLOW = (
    "Replace the draft of a flow by one that is written as text, in one call. Refused as a whole, each fault named, "
    "when anything in it is wrong. A draft that is replaced is kept as a version."
)


def _all() -> dict[str, Operation]:
    own = (*keeping.OPERATIONS, *running.OPERATIONS, *testing.OPERATIONS, *viewing.OPERATIONS, *searching.OPERATIONS)
    found = [operation(function, permission, kind) for function, permission, kind in own]
    found += [
        on_flow(tool, _ON_FLOW[tool.name], description=_BUILD_FLOW if tool.name == "build_flow" else "")
        for tool in TOOLS
        if tool.name in _ON_FLOW
    ]
    found += [personal(tool, _PERSONAL[tool.name]) for tool in TOOLS if tool.name in _PERSONAL]
    named = {one.name: one for one in found}
    return named | {"batch": batch_over(named)}


OPERATIONS = _all()
"""By name."""


def offered(principal: Principal) -> list[Operation]:
    """The operations that somebody may use at all; no others are shown to their clients."""
    return [
        one
        for one in OPERATIONS.values()
        if (principal.may_somewhere if is_of_space(one.permission) else principal.may)(one.permission)
    ]
