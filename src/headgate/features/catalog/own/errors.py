"""Errors of checking and running custom code."""

from collections.abc import Sequence
from dataclasses import asdict

from headgate.foundation.errors import Invalid
from headgate.sandbox.reading.scan import Finding


class ComponentNotMade(Invalid):
    """The code did not pass its checks; `findings` in `extra` contains every fault with its line."""

    code = "component_not_made"
    title = "Component not created"


class ComponentNotPossible(ComponentNotMade):
    """The model states that no component can do this, and why; there is no retry."""

    code = "component_not_possible"


class UnsafeCode(Invalid):
    """A node's code contains something that the sandbox refuses; nothing ran. Carries `findings` with lines."""

    code = "unsafe_code"
    title = "Unsafe component code"

    def __init__(self, node_id: str, type_: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        super().__init__(
            "Refused to run: unsafe component code detected — "
            f"node '{node_id}' ({type_}), line {first.line}: {first.message}",
            remedy=first.remedy,
            findings=[asdict(finding) for finding in findings],
            node=node_id,
        )
