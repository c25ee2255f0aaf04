"""An own component that was checked: what was found out about its code, which stays true as long as the code does."""

import hashlib
from dataclasses import dataclass

from headgate.foundation.errors import JsonValue
from headgate.graph.manifest import Manifest
from headgate.graph.template import Template


@dataclass(frozen=True, slots=True)
class CheckedComponent:
    """Code that passed the scan and showed its template in the sandbox."""

    code: str
    template: Template
    manifest: Manifest
    note: str = ""
    """Why it was not tried, or what came of it; empty when it gave its outputs. Not kept."""

    @property
    def type(self) -> str:
        """The class name, which is the node's type."""
        return self.template.type

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of its fields that take a secret; it reads no others."""
        return tuple(field.name for field in self.template.fields if field.carries_secret)

    @property
    def reach(self) -> dict[str, JsonValue]:
        """Everything that the code may reach: hosts, secrets, files and modules."""
        return self.manifest.as_json() | {"secrets": list(self.secrets)}

    @property
    def code_hash(self) -> str:
        """What the code is known by."""
        return code_hash(self.code)


def code_hash(code: str) -> str:
    """SHA-256 of the source as UTF-8, in hex. Line endings and blanks at the end, which travel badly, do not count."""
    return hashlib.sha256(code.replace("\r\n", "\n").rstrip().encode()).hexdigest()
