"""Kinds of connections, as data: fields, secrets, hosts, credential and test of each. `catalogue.py` declares them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.foundation.guarded_http.credential import host_of

FieldType = Literal["text", "secret", "multiline_secret", "number", "boolean", "select", "url", "hosts"]
Adds = Literal["none", "hosts", "header", "query", "basic", "bearer", "oauth"]
"""What the guarded client adds to HTTP requests; `hosts`: nothing, requests only stay within the hosts."""
Grant = Literal["", "authorization_code", "device_code", "client_credentials"]
Probe = Literal["http", "smtp", "imap", "sql", "redis", "amqp", "kafka", "storage", "git", "mcp", "models", "none"]
Ownership = Literal["any", "shared"]
"""`shared`: belongs to the space and never to one user."""
Category = Literal["api", "oauth", "mail", "data", "files", "ai", "other"]


@dataclass(frozen=True, slots=True)
class KindField:
    """A field of a connection."""

    name: str
    label: str
    help: str = ""
    type: FieldType = "text"
    required: bool = False
    default: JsonValue = None
    options: tuple[str, ...] = ()
    advanced: bool = False
    least: int = 1
    """Of a number."""

    @property
    def is_secret(self) -> bool:
        """Whether the value is stored encrypted and never returned."""
        return self.type in {"secret", "multiline_secret"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of connections."""

    id: str
    label: str
    description: str
    category: Category
    fields: tuple[KindField, ...]
    adds: Adds = "none"
    grant: Grant = ""
    probe: Probe = "none"
    ownership: Ownership = "any"
    keywords: tuple[str, ...] = ()
    admins_only: bool = False
    """Whether only admins of an organisation add it: it names something that the operator opened."""
    endpoints: tuple[str, ...] = ()
    """Fields with URLs of the provider that tokens come from. Flows cannot reach them unless they are also hosts."""

    def field(self, name: str) -> KindField | None:
        """Return the field of that name."""
        return next((field for field in self.fields if field.name == name), None)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Return the names of the secret fields."""
        return tuple(field.name for field in self.fields if field.is_secret)

    def hosts(self, values: Mapping[str, JsonValue]) -> tuple[str, ...]:
        """Return the servers that a connection with these values may reach, sorted. Raises `BadUrl`."""
        return tuple(sorted(set(self._hosts(values))))

    def reach(self, values: Mapping[str, JsonValue]) -> frozenset[str]:
        """Return every server that secrets and tokens are sent to: the hosts, and the provider's URLs."""
        return frozenset((*self.hosts(values), *(str(values[name]) for name in self.endpoints if values.get(name))))

    def _hosts(self, values: Mapping[str, JsonValue]) -> Iterator[str]:
        names = {field.name for field in self.fields}
        if values.get("host") and "port" in names:
            yield f"{str(values['host']).lower()}:{values.get('port')}"
        if "brokers" in names:
            yield from brokers_in(values.get("brokers"))
        for field in self.fields:
            value = values.get(field.name)
            if field.type == "url" and field.name not in self.endpoints and isinstance(value, str) and value:
                yield host_of(value)
            if field.type == "hosts" and isinstance(value, list):
                yield from (host_of(str(host)) for host in value)


def brokers_in(value: JsonValue) -> list[str]:
    """Return the servers of a list that is separated by commas or spaces."""
    return re.split(r"[\s,]+", value.strip(" ,").lower()) if isinstance(value, str) and value.strip(" ,") else []


def server_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL that was checked before."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
