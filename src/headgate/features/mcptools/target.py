"""Targets of servers: URLs, commands, headers, with secret values filled in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlsplit

import orjson
from pydantic import SecretStr

from headgate.features.mcptools.errors import BadMcpServer
from headgate.features.mcptools.programs import ProgramAccess
from headgate.features.mcptools.sampling import Sampling
from headgate.features.secrets.reads import STORED_WITH, Source
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.guarded_http.headers import check_headers
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.log import redact_text
from headgate.graph.check_headers import carries_credential
from headgate.graph.connection_reference import EXPECTED_CONNECTION, is_connection_name
from headgate.graph.secret_reference import SecretReference

MAX_ARGUMENTS = 64
MAX_SECRETS = 64
MAX_TEXT = 4096
"""Maximum characters of one argument or value."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_LOADERS = re.compile(
    r"(?i:(https?|all)_proxy)|LD_.*|DYLD_.*|PYTHON(PATH|HOME|STARTUP|USERBASE)|NODE_OPTIONS|PATH|HOME|SHELL", re.ASCII
)
"""Environment variables that a program may not get: each would turn it into another program, or bypass its network."""
Given = Mapping[str, SecretStr | SecretReference]
"""Headers or environment from a user: text or secrets."""


class Secrets(Protocol):
    """Encrypted variables, for one reader."""

    async def secret(self, name: str, *, url: str | None = None) -> SecretStr:
        """Return the value; with `url`, for a request to that URL. Raises `NotFound`, `Forbidden`."""
        ...

    async def note(self, name: str, source: Source) -> None:
        """Record the read of values that are stored with a server."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """A server to connect to."""

    name: str
    transport: str
    url: str = ""
    command: tuple[str, ...] = ()
    secrets: Mapping[str, str | SecretReference] = field(default_factory=dict, repr=False)
    """Headers of a URL, or environment of a program."""
    connection: str = ""
    """Name of the connection that authenticates requests."""
    sampling: Sampling | None = None
    """The model that answers requests of the server; None for none."""
    access: ProgramAccess = field(default_factory=ProgramAccess)
    """Hosts and folders of a program."""

    async def filled(self, variables: Secrets) -> "Target":
        """Return the target with its secret values. Text is sent unchanged.

        Raises `NotFound` with the secret's name, `Forbidden` when it belongs to other servers.
        """
        if self.sent:
            await variables.note(f"mcp_server{STORED_WITH}{self.name}", "space")
        filled = {name: await self._filled(name, value, variables) for name, value in self.secrets.items()}
        return replace(self, secrets=filled)

    async def _filled(self, name: str, value: str | SecretReference, variables: Secrets) -> str:
        if isinstance(value, SecretReference):
            return value.filled((await variables.secret(value.name, url=self.url or None)).get_secret_value())
        if carries_credential(name):
            secret_values.read(value.rpartition(" ")[2])
        return value

    @property
    def sent(self) -> dict[str, str]:
        """Return the texts that are sent once it is `filled`."""
        return {name: value for name, value in self.secrets.items() if isinstance(value, str)}

    def scrubbed(self, text: str) -> str:
        """Return the server's text without the secrets that were sent to it."""
        values = secret_values.SecretValues()
        for value in self.sent.values():
            values.add(value)
            values.add(value.rpartition(" ")[2])
        return redact_text(values.text(text))


def check_name(name: str) -> None:
    """Raise `BadMcpServer` for an invalid server name: a dot would make `server.tool` ambiguous."""
    if not _NAME.fullmatch(name):
        raise BadMcpServer(
            f"{name[:70]!r} is not a valid name of an MCP server.",
            remedy="Use at most 64 lower-case letters, digits, - and _, starting with a letter.",
        )


def checked_target(
    name: str, transport: str, *, url: str, command: Sequence[str], secrets: Given, connection: str = ""
) -> Target:
    """Return the server in its stored form. Raises `BadMcpServer`, or errors of parsing the URL or a header."""
    values = {
        name: value if isinstance(value, SecretReference) else value.get_secret_value()
        for name, value in secrets.items()
    }
    texts = {name: text for name, text in values.items() if isinstance(text, str)}
    if len(secrets) > MAX_SECRETS or any(len(text) > MAX_TEXT for text in texts.values()):
        raise BadMcpServer(f"The server '{name}' has too many or too long headers or variables.")
    if transport == "http":
        if command:
            raise BadMcpServer(f"The server '{name}' has a URL, so it cannot have a command.")
        target = parse_target(url)
        check_headers({name: texts.get(name, "") for name in values})
        _check_connection(name, connection, values)
        return Target(name, transport, url=target.url, secrets=values, connection=connection)
    if connection:
        raise BadMcpServer(f"The server '{name}' is a program, so it cannot have a connection.")
    if url:
        raise BadMcpServer(f"The server '{name}' is a program, so it cannot have a URL.")
    _check_command(name, command)
    _check_environment(name, {key: texts.get(key, "") for key in values})
    return Target(name, transport, command=tuple(command), secrets=values)


def same_place(before: Target, after: Target) -> bool:
    """Return whether secrets for one may be sent to the other: the same origin, or the same program."""
    if before.transport != after.transport:
        return False
    if before.transport == "stdio":
        return before.command == after.command
    return urlsplit(before.url)[:2] == urlsplit(after.url)[:2]


def seal(secret_box: SecretBox, secrets: Mapping[str, str | SecretReference]) -> bytes | None:
    """Return the encrypted secrets; None when there are none."""
    stored = {name: value.as_json() if isinstance(value, SecretReference) else value for name, value in secrets.items()}
    return secret_box.encrypt(SecretStr(orjson.dumps(stored).decode())) if stored else None


def unseal(secret_box: SecretBox, sealed: bytes | None) -> dict[str, str | SecretReference]:
    """Return the decrypted secrets. Raises `Unavailable` for another key."""
    if sealed is None:
        return {}
    stored = orjson.loads(secret_box.decrypt(sealed).get_secret_value())
    return {name: value if isinstance(value, str) else SecretReference.parse(value) for name, value in stored.items()}


def _check_connection(name: str, connection: str, headers: Mapping[str, object]) -> None:
    if connection and not is_connection_name(connection):
        raise BadMcpServer(f"{connection[:70]!r} is not the name of a connection.", remedy=EXPECTED_CONNECTION)
    if connection and any(header.lower() == "authorization" for header in headers):
        raise BadMcpServer(
            f"The server '{name}' has an Authorization header and a connection.", remedy="Give one of the two."
        )


def _check_command(name: str, command: Sequence[str]) -> None:
    if not command or not command[0].strip():
        raise BadMcpServer(f"The server '{name}' needs a command.", remedy="Give the program and its arguments.")
    if len(command) > MAX_ARGUMENTS or any(len(argument) > MAX_TEXT or "\x00" in argument for argument in command):
        raise BadMcpServer(f"The command of the server '{name}' is too long or contains a NUL character.")


def _check_environment(name: str, environment: Mapping[str, str]) -> None:
    for key, value in environment.items():
        if not _ENVIRONMENT.fullmatch(key) or _LOADERS.fullmatch(key) or "\x00" in value:
            raise BadMcpServer(
                f"The environment variable {key[:80]!r} is not allowed for the server '{name}'.",
                remedy=(
                    "Use letters, digits and _. Variables that decide which program runs, or how it connects, are not "
                    "allowed."
                ),
            )
