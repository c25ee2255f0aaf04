"""The key and headers of a server, encrypted as one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import SecretStr

from headgate.foundation.crypto import SecretBox
from headgate.graph.secret_reference import SecretReference

Secret = str | SecretReference
"""A value, or the name of the variable that it is in."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A server's secrets for each request, in stored form."""

    key: Secret | None = None
    headers: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def holds_text(self) -> bool:
        """Whether a value is stored in it, not only the name of a variable."""
        return any(isinstance(value, str) and value for value in (self.key, *self.headers.values()))

    @property
    def names(self) -> list[str]:
        """Names of what it holds, for display."""
        return [*(["key"] if self.key else []), *self.headers]

    def seal(self, box: SecretBox) -> bytes | None:
        """Encrypted; None when there is nothing."""
        if not self.names:
            return None
        stored = {
            "key": _stored(self.key) if self.key else None,
            "headers": {name: _stored(value) for name, value in self.headers.items()},
        }
        return box.encrypt(SecretStr(orjson.dumps(stored).decode()))


def references_of(box: SecretBox, sealed: bytes | None) -> dict[str, SecretReference]:
    """The variables that it refers to by key and header, for checks: no value that is stored in it is returned."""
    opened = unseal(box, sealed)
    return {
        name: value
        for name, value in (("key", opened.key), *opened.headers.items())
        if not isinstance(value, str | None)
    }


def unseal(box: SecretBox, sealed: bytes | None) -> Sealed:
    """Return the key and headers again. Raises `Unavailable` when the secret key is another one."""
    if sealed is None:
        return Sealed()
    stored = orjson.loads(box.decrypt(sealed).get_secret_value())
    key = stored["key"]
    return Sealed(
        None if key is None else _read(key), {name: _read(value) for name, value in stored["headers"].items()}
    )


def _stored(value: Secret) -> object:
    return value.as_json() if isinstance(value, SecretReference) else value


def _read(value: object) -> Secret:
    return value if isinstance(value, str) else SecretReference.parse(value)
