"""A checked custom component: facts about its code, which stay valid as long as the code is unchanged."""

import hashlib
from dataclasses import dataclass

from headgate.foundation.errors import JsonValue
from headgate.graph.manifest import Manifest
from headgate.graph.template import Template


@dataclass(frozen=True, slots=True)
class CheckedComponent:
    """Code that passed the scan and returned its template in the sandbox."""

    code: str
    template: Template
    manifest: Manifest
    note: str = ""
    """Why it was not tried, or its failure; empty when it produced its outputs. Not stored."""

    pack: str = ""
    """The installed pack that it belongs to; empty for others."""

    @property
    def type(self) -> str:
        """Return the class name, which is the node's type."""
        return self.template.type

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return names of its secret fields; it reads no other secrets."""
        return tuple(field.name for field in self.template.fields if field.carries_secret)

    @property
    def reach(self) -> dict[str, JsonValue]:
        """Return the access of the code: hosts, secrets, files and modules."""
        return self.manifest.as_json() | {"secrets": list(self.secrets)}

    @property
    def code_hash(self) -> str:
        """Return the identifying hash of the code."""
        return code_hash(self.code)


def code_hash(code: str) -> str:
    """Return SHA-256 of the source as UTF-8, in hexadecimal. Line endings and trailing blanks are normalised."""
    return hashlib.sha256(code.replace("\r\n", "\n").rstrip().encode()).hexdigest()
