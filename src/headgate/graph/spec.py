"""The text spec of a flow: what `build_flow` takes, what the canvas summary prints, what people write by hand.

```
name: Page summary
description: Fetch a page and summarise it
nodes:
  page: URL
    url: https://example.org
  brief: AIStep
    label: Summary
    prompt: |
      Summarise in three lines:
      {{page.text}}
    model: openai/gpt-5-mini
    policy:
      output_type: json
      output_contract: {"type": "json", "schema": {"type": "object"}}
edges:
  page.text -> brief.input
form:
  topic: text
    label: What about?
    required: true
settings:
  data_retention_days: 30
triggers:
  "Every morning": schedule
    cron: 0 7 * * MON-FRI
    policies:
      overlap: queue_one
```

Sections come in any order; only what differs from the default is written. Below a node, `label`, `code`, `policy` and
`params` are its own; every other name is a param, and a param that is called like one of the four stands below
`params:`. A node of an own component may leave its `code` out where the catalog has it. Values are described in
`spec_values`, lines and blocks in `spec_lines`.

A line that starts with `#` is a comment. Behind a section, a node's type or an edge ` # ...` is one too; inside a
value `#` is part of the value. A trigger has the settings of its kind, `policies` and `input`, never a secret.
Comments, blank lines and positions are not kept: a flow read from text gets a new layout.

Reading and printing are inverse: `parse_spec(print_spec(flow))` is the flow, freshly laid out, and printing that gives
the same text.
"""

from collections.abc import Callable
from dataclasses import replace

from headgate.graph.check_run import orphan_issues
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.layout import arrange
from headgate.graph.model import Flow
from headgate.graph.own_code import with_code
from headgate.graph.spec_lines import SpecError
from headgate.graph.spec_print import print_spec
from headgate.graph.spec_read import SpecFlow, read_flow
from headgate.graph.template import Catalog
from headgate.graph.validate import check_draft
from headgate.graph.wiring import wire

__all__ = ["SpecError", "parse_spec", "print_spec", "read_spec"]


def parse_spec(text: str) -> Flow:
    """Return the flow of a spec text, laid out. Only the grammar is checked: types and ports may be unknown.

    Raises `SpecError` with up to twenty faults, each with its line.
    """
    return arrange(read_flow(text).flow)


def read_spec(
    text: str, catalog: Catalog, *, mend: Callable[[Flow], Flow] | None = None, with_triggers: bool = False
) -> Flow:
    """Return the flow of a spec text with its types, ports, fields and values checked against a catalog, laid out.

    Args:
        text: The spec.
        catalog: Where templates come from.
        mend: Puts values that were written in another way into the form that is kept, before they are checked.
        with_triggers: Whether the text may have triggers, which the caller adds.

    Raises `SpecError`: faults of grammar, else everything a draft may not have and nodes that nothing connects, each
    with its line and the nearest valid name.
    """
    spec_flow = read_flow(text, with_triggers=with_triggers)
    spec_flow.flow = with_code(mend(spec_flow.flow) if mend else spec_flow.flow, catalog)
    issues = [*check_draft(spec_flow.flow, catalog), *orphan_issues(wire(spec_flow.flow, catalog))]
    if issues:
        raise SpecError(sorted((located(issue, spec_flow) for issue in issues), key=lambda issue: issue.line))
    return arrange(spec_flow.flow, catalog)


def located(issue: Issue, spec: SpecFlow) -> Issue:
    """Return the issue with the affected line of the spec."""
    if issue.edge in spec.edges:
        line = spec.edges[issue.edge]
        return replace(issue, line=line[-1] if issue.code is IssueCode.DUPLICATE_EDGE else line[0])
    lines = spec.nodes.get(issue.node)
    if lines is None:
        return replace(issue, line=1)
    path = tuple(issue.field.split("."))
    if path == ("code",) and path in lines.numbers:
        return replace(issue, line=lines.of(path))
    in_policy = ("policy", path[0]) in lines.numbers
    return replace(issue, line=lines.of(("policy", *path) if in_policy else ("params", *path)))
