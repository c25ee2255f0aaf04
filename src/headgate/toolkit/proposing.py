"""Tools that change nothing themselves: an edit or a plan that a user accepts or dismisses."""

from typing import cast

from pydantic import JsonValue

from headgate.foundation.ids import new_id
from headgate.graph import edits
from headgate.toolkit import actions
from headgate.toolkit.model_values import coerce_params
from headgate.toolkit.reading import field_of, node_of
from headgate.toolkit.shown import refuse_redacted, secret_fields, shown_value
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_PLAN_CHARS = 20_000
_WAITS = (
    "Proposed, not applied: the user sees the old and the new value and decides. If the request continues after "
    "this edit (a run, for example), stop here; you are called again when the user has applied it."
)
_STOP = "The plan is shown to the user. Stop now, in one short sentence, and wait: you are called again once approved."


async def propose_field_edit(
    bench: Workbench, node_id: str, field: str, new_value: JsonValue, description: str = ""
) -> Result:
    """Propose a value that the user should review (a long prompt, code, a URL), to accept or dismiss.

    Args:
        node_id: Id of the node.
        field: Name of the field.
        new_value: The proposed value.
        description: For the user: what the edit does and why.
    """
    refuse_redacted(new_value)
    node = node_of(bench, node_id)
    field_template = field_of(bench, node, field)
    template = bench.registry.template(node.type, node.params)
    value = coerce_params({field: new_value}, template)[field]
    edit = edits.configure(bench.flow, node_id, {field: value}, bench.registry)
    if not edit.changes:
        raise ToolRefused(f"'{node_id}.{field}' already has this value.", remedy="Propose another value, or continue.")
    old = node.params.get(field, field_template.default)
    hidden = field in secret_fields(bench.registry, node.type, node.params)
    action = actions.edit_field(
        f"edit_{new_id()}",
        node,
        field,
        old_value=shown_value(old, hidden=hidden),
        new_value=value,
        description=description[:1000],
        patch=cast("list[JsonValue]", edit.patch()),
    )
    bench.propose(action, edit.flow)
    proposal = bench.proposals[-1]
    return {"ok": True, "proposal_id": proposal["id"], "validation": proposal["validation"], "next": _WAITS}


async def propose_plan(bench: Workbench, markdown: str) -> Result:
    """Propose a plan and wait for approval, for large or ambiguous builds only.

    Args:
        markdown: What the flow does, its steps, your assumptions.
    """
    text = markdown.strip()
    if not text:
        raise ToolRefused("The plan is empty.", remedy="Describe in Markdown what you would build.")
    if len(text) > MOST_PLAN_CHARS:
        raise ToolRefused(f"The plan has more than {MOST_PLAN_CHARS} characters.", remedy="Write a shorter one.")
    bench.propose_plan(text)
    return {"ok": True, "next": _STOP}
