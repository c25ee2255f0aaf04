"""The toolkit: every tool with the permission it needs, in the order a model sees them."""

from headgate.features.access.permissions import Permission
from headgate.toolkit.editing import (
    add_component,
    build_flow,
    configure_component,
    connect_components,
    disconnect_components,
    remove_component,
    rename_component,
    undo_last,
)
from headgate.toolkit.reading import describe_component, describe_flow_io, get_field_value, search_components
from headgate.toolkit.running import run_flow
from headgate.toolkit.tool import ToolDefinition, define
from headgate.toolkit.workbench import Workbench

TOOLS = (
    define(search_components, permission=Permission.CATALOG_VIEW),
    define(describe_component, permission=Permission.CATALOG_VIEW),
    define(get_field_value, permission=Permission.FLOWS_VIEW),
    define(describe_flow_io, permission=Permission.FLOWS_VIEW),
    define(add_component, permission=Permission.FLOWS_EDIT),
    define(remove_component, permission=Permission.FLOWS_EDIT),
    define(connect_components, permission=Permission.FLOWS_EDIT),
    define(disconnect_components, permission=Permission.FLOWS_EDIT),
    define(configure_component, permission=Permission.FLOWS_EDIT),
    define(rename_component, permission=Permission.FLOWS_EDIT),
    define(build_flow, permission=Permission.FLOWS_EDIT),
    define(run_flow, permission=Permission.RUNS_TEST),
    define(undo_last, permission=Permission.FLOWS_EDIT),
)


def tools_for(bench: Workbench) -> tuple[ToolDefinition, ...]:
    """The tools that whoever works on this bench may use; no others are offered to a model."""
    return tuple(tool for tool in TOOLS if bench.may(tool.permission))
