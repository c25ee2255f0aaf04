"""The toolkit: every tool, in the order a model sees them."""

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
from headgate.toolkit.tool import define

TOOLS = tuple(
    define(function)
    for function in (
        search_components,
        describe_component,
        get_field_value,
        describe_flow_io,
        add_component,
        remove_component,
        connect_components,
        disconnect_components,
        configure_component,
        rename_component,
        build_flow,
        run_flow,
        undo_last,
    )
)
