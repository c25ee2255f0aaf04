"""The tools on a workbench: each with its permission and effect, in the order a model sees them."""

from headgate.features.access.permissions import Permission
from headgate.toolkit.building import build_flow
from headgate.toolkit.components import generate_component, propose_component
from headgate.toolkit.composing import extract_flow, inline_flow
from headgate.toolkit.editing import (
    add_component,
    configure_component,
    connect_components,
    disconnect_components,
    remove_component,
    rename_component,
    undo,
)
from headgate.toolkit.files import edit_file, glob_search, grep_search, read_file, write_file
from headgate.toolkit.flow.grammar import read_grammar
from headgate.toolkit.flow.parts import edit_flow, group_components
from headgate.toolkit.flow.reading import read_flow
from headgate.toolkit.proposing import propose_field_edit, propose_plan
from headgate.toolkit.reading import describe_component, describe_flow_io, get_field_value, search_components
from headgate.toolkit.running import run_flow
from headgate.toolkit.tool import define

TOOLS = (
    define(search_components, permission=Permission.CATALOG_VIEW, about="user", cached=True),
    define(describe_component, permission=Permission.CATALOG_VIEW, about="user", cached=True),
    define(read_grammar, permission=Permission.CATALOG_VIEW, about="user", cached=True),
    define(read_flow, permission=Permission.FLOWS_VIEW),
    define(get_field_value, permission=Permission.FLOWS_VIEW),
    define(describe_flow_io, permission=Permission.FLOWS_VIEW),
    define(propose_plan, permission=Permission.FLOWS_EDIT, kind="set"),
    define(propose_field_edit, permission=Permission.FLOWS_EDIT, kind="set", waits=True),
    define(add_component, permission=Permission.FLOWS_EDIT, kind="add", waits=True),
    define(remove_component, permission=Permission.FLOWS_EDIT, kind="remove", waits=True),
    define(connect_components, permission=Permission.FLOWS_EDIT, kind="add", waits=True),
    define(disconnect_components, permission=Permission.FLOWS_EDIT, kind="remove", waits=True),
    define(configure_component, permission=Permission.FLOWS_EDIT, kind="set", waits=True),
    define(rename_component, permission=Permission.FLOWS_EDIT, kind="set", waits=True),
    define(edit_flow, permission=Permission.FLOWS_EDIT, kind="set", waits=True),
    define(group_components, permission=Permission.FLOWS_EDIT, kind="add", waits=True),
    define(extract_flow, permission=Permission.FLOWS_EDIT, kind="add", uses="stored", replayed=False, waits=True),
    define(inline_flow, permission=Permission.FLOWS_EDIT, kind="remove", uses="stored", waits=True),
    define(build_flow, permission=Permission.FLOWS_EDIT, kind="remove", waits=True),
    define(
        generate_component,
        permission=Permission.FLOWS_EDIT,
        kind="add",
        about="user",
        uses="maker",
        replayed=False,
        waits=True,
    ),
    define(propose_component, permission=Permission.FLOWS_EDIT, kind="add", about="user", uses="maker", waits=True),
    define(run_flow, permission=Permission.RUNS_TEST, kind="run", replayed=False, waits=True),
    define(undo, permission=Permission.FLOWS_EDIT, kind="remove", waits=True),
    define(read_file, permission=Permission.WORKSPACE_USE, about="user", uses="files"),
    define(write_file, permission=Permission.WORKSPACE_USE, kind="remove", about="user", uses="files", touches=True),
    define(edit_file, permission=Permission.WORKSPACE_USE, kind="remove", about="user", uses="files", touches=True),
    define(glob_search, permission=Permission.WORKSPACE_USE, about="user", uses="files"),
    define(grep_search, permission=Permission.WORKSPACE_USE, about="user", uses="files"),
)
"""Workbench tools only. `registry` has every tool, including those on stored data."""
