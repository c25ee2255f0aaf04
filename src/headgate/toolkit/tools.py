"""The toolkit: every tool with the permission it needs, in the order a model sees them."""

from headgate.features.access.permissions import Permission
from headgate.toolkit.building import build_flow
from headgate.toolkit.components import generate_component, register_component
from headgate.toolkit.editing import (
    add_component,
    configure_component,
    connect_components,
    disconnect_components,
    remove_component,
    rename_component,
    undo_last,
)
from headgate.toolkit.files import edit_file, glob_search, grep_search, read_file, write_file
from headgate.toolkit.proposing import propose_field_edit, propose_plan
from headgate.toolkit.reading import describe_component, describe_flow_io, get_field_value, search_components
from headgate.toolkit.running import run_flow
from headgate.toolkit.tool import ToolDefinition, define
from headgate.toolkit.workbench import Workbench

TOOLS = (
    define(search_components, permission=Permission.CATALOG_VIEW, cached=True),
    define(describe_component, permission=Permission.CATALOG_VIEW, cached=True),
    define(get_field_value, permission=Permission.FLOWS_VIEW),
    define(describe_flow_io, permission=Permission.FLOWS_VIEW),
    define(propose_plan, permission=Permission.FLOWS_EDIT),
    define(propose_field_edit, permission=Permission.FLOWS_EDIT, waits=True),
    define(add_component, permission=Permission.FLOWS_EDIT, waits=True),
    define(remove_component, permission=Permission.FLOWS_EDIT, waits=True),
    define(connect_components, permission=Permission.FLOWS_EDIT, waits=True),
    define(disconnect_components, permission=Permission.FLOWS_EDIT, waits=True),
    define(configure_component, permission=Permission.FLOWS_EDIT, waits=True),
    define(rename_component, permission=Permission.FLOWS_EDIT, waits=True),
    define(build_flow, permission=Permission.FLOWS_EDIT, waits=True),
    define(generate_component, permission=Permission.FLOWS_EDIT, uses="maker", replayed=False, waits=True),
    define(register_component, permission=Permission.FLOWS_EDIT, uses="maker", waits=True),
    define(run_flow, permission=Permission.RUNS_TEST, replayed=False, waits=True),
    define(undo_last, permission=Permission.FLOWS_EDIT, waits=True),
    define(read_file, permission=Permission.WORKSPACE_USE, uses="files"),
    define(write_file, permission=Permission.WORKSPACE_USE, uses="files", touches=True),
    define(edit_file, permission=Permission.WORKSPACE_USE, uses="files", touches=True),
    define(glob_search, permission=Permission.WORKSPACE_USE, uses="files"),
    define(grep_search, permission=Permission.WORKSPACE_USE, uses="files"),
)


def tools_for(bench: Workbench) -> tuple[ToolDefinition, ...]:
    """The tools that whoever works on this bench may use and that it has the means for; no others are offered."""
    return tuple(tool for tool in TOOLS if bench.may(tool.permission) and tool.is_equipped(bench))
