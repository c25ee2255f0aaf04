"""Names of values that become ports of their step: what a form, and a step that runs a flow, declare."""

import re

from headgate.graph.model import PORT_PATTERN
from headgate.graph.template import DOCUMENT_OUTPUT, ERROR_OUTPUT, TOOL_OUTPUT
from headgate.graph.wiring import FILE_IDS, MAIN_OUTPUT

FLOW_STEP = "RunFlow"
"""The component that runs a flow."""
STATE_STEPS = frozenset({"ReadState", "WaitForState", "WriteState"})
"""Components that use the state of their flow."""
ANY_TYPE = "any"
"""Type of a state whose values are not checked."""
FORM_TYPES = "types"
"""Param of a FormInput: form field to the type of its output."""
RESERVED_OUTPUTS = frozenset({TOOL_OUTPUT, DOCUMENT_OUTPUT, ERROR_OUTPUT, MAIN_OUTPUT, FILE_IDS})
FORM_OUTPUTS = frozenset({"data", "text"}) | RESERVED_OUTPUTS
FLOW_STEP_OUTPUTS = frozenset({"result", "text", "run_id"}) | RESERVED_OUTPUTS
REDUCED = "reduced"
"""Output of the one value to which the results of all items are reduced."""
EACH_STEP_OUTPUTS = frozenset({"results", "table", "errors", REDUCED}) | FLOW_STEP_OUTPUTS
"""Names that members of a result cannot have in a step that runs a flow for each item."""
LOOP_STEP_OUTPUTS = frozenset({"rounds", "reached", "timeout"}) | FLOW_STEP_OUTPUTS
"""Names that members of a result cannot have in a step that repeats a flow."""
REPEATED_OUTPUTS = EACH_STEP_OUTPUTS | LOOP_STEP_OUTPUTS
"""Names that members of a result cannot have in any step that runs a flow."""
FLOW_STEP_INPUTS = frozenset({"flow", "version", "text", "answers", "files", "inputs", "outputs"})
_NAME = re.compile(PORT_PATTERN)


def is_value_name(name: str) -> bool:
    """Return whether a name can be a port."""
    return _NAME.fullmatch(name) is not None
