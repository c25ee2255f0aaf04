"""What keeps own code from becoming a component, and from running."""

from collections.abc import Sequence
from dataclasses import asdict

from headgate.foundation.errors import Invalid
from headgate.sandbox.reading.scan import Finding


class ComponentNotMade(Invalid):
    """Code did not pass its checks; `findings` in `extra` holds every fault with its line."""

    code = "component_not_made"
    title = "Component not made"


class ComponentNotPossible(ComponentNotMade):
    """The model says that no component can do what was asked, and why; nothing is tried again."""

    code = "component_not_possible"
    title = "Component not possible"


class UnsafeCode(Invalid):
    """A node's code holds what the sandbox would refuse; nothing ran. `findings` in `extra` holds all, with lines."""

    code = "unsafe_code"
    title = "Unsafe component code"

    def __init__(self, node_id: str, type_: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        super().__init__(
            "Refused to run: unsafe component code detected — "
            f"node '{node_id}' ({type_}), line {first.line}: {first.message}",
            remedy=first.remedy,
            findings=[asdict(one) for one in findings],
            node=node_id,
        )
