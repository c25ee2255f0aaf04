"""Where a server is and what it is sent: addresses, commands, headers, with the values of secrets filled in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlsplit

import orjson
from pydantic import SecretStr

from headgate.features.mcptools.errors import BadMcpServer
from headgate.features.secrets.reads import STORED_WITH, Source
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.guarded_http.headers import check_headers
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.log import redact_text
from headgate.graph.check_headers import carries_credential
from headgate.graph.secret_reference import SecretReference

MAX_ARGUMENTS = 64
MAX_SECRETS = 64
MAX_TEXT = 4096
"""Characters of one argument or value."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_LOADERS = re.compile(r"LD_.*|DYLD_.*|PYTHON(PATH|HOME|STARTUP|USERBASE)|NODE_OPTIONS|PATH|HOME|SHELL", re.ASCII)
"""What a program's environment may not set: each makes another program of it."""
Given = Mapping[str, SecretStr | SecretReference]
"""Headers or environment as a person gives them: text or secrets."""


class Secrets(Protocol):
    """Encrypted variables, for one reader."""

    async def secret(self, name: str, *, url: str | None = None) -> SecretStr:
        """The value; with `url`, for a request to that address. Raises `NotFound`, `Forbidden`."""
        ...

    async def note(self, name: str, source: Source) -> None:
        """Write down that values are read that are stored with a server."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """A server to talk to."""

    name: str
    transport: str
    url: str = ""
    command: tuple[str, ...] = ()
    secrets: Mapping[str, str | SecretReference] = field(default_factory=dict, repr=False)
    """Headers of an address, environment of a program."""

    async def filled(self, variables: Secrets) -> "Target":
        """With the values of the secrets that it refers to. Text is sent as it is, whatever it says.

        Raises `NotFound` naming the secret, `Forbidden` when it is kept for other servers.
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
        """What is sent once it is `filled`: its texts."""
        return {name: value for name, value in self.secrets.items() if isinstance(value, str)}

    def scrubbed(self, text: str) -> str:
        """Text of the server without the secrets that it was sent."""
        values = secret_values.SecretValues()
        for value in self.sent.values():
            values.add(value)
            values.add(value.rpartition(" ")[2])
        return redact_text(values.text(text))


def check_name(name: str) -> None:
    """Raise `BadMcpServer` when no server may be called that: a dot would blur `server.tool`."""
    if not _NAME.fullmatch(name):
        raise BadMcpServer(
            f"{name[:70]!r} is no name for an MCP server.",
            remedy="Use up to 64 small letters, digits, - and _, a letter first.",
        )


def checked_target(name: str, transport: str, *, url: str, command: Sequence[str], secrets: Given) -> Target:
    """The server as it may be stored. Raises `BadMcpServer`, or what reading the address or a header raises."""
    plain = {name: one if isinstance(one, SecretReference) else one.get_secret_value() for name, one in secrets.items()}
    written = {name: one for name, one in plain.items() if isinstance(one, str)}
    if len(secrets) > MAX_SECRETS or any(len(one) > MAX_TEXT for one in written.values()):
        raise BadMcpServer(f"The server '{name}' has more, or longer, headers or variables than are kept.")
    if transport == "http":
        if command:
            raise BadMcpServer(f"The server '{name}' has an address, so it has no command.")
        target = parse_target(url)
        check_headers({name: written.get(name, "") for name in plain})
        return Target(name, transport, url=target.url, secrets=plain)
    if url:
        raise BadMcpServer(f"The server '{name}' is a program, so it has no address.")
    _check_command(name, command)
    _check_environment(name, {key: written.get(key, "") for key in plain})
    return Target(name, transport, command=tuple(command), secrets=plain)


def same_place(before: Target, after: Target) -> bool:
    """Whether what was meant for one may be sent to the other: the same origin, the same program."""
    if before.transport != after.transport:
        return False
    if before.transport == "stdio":
        return before.command == after.command
    return urlsplit(before.url)[:2] == urlsplit(after.url)[:2]


def seal(box: SecretBox, secrets: Mapping[str, str | SecretReference]) -> bytes | None:
    """The secrets encrypted; None when there are none."""
    stored = {name: one.as_json() if isinstance(one, SecretReference) else one for name, one in secrets.items()}
    return box.encrypt(SecretStr(orjson.dumps(stored).decode())) if stored else None


def unseal(box: SecretBox, sealed: bytes | None) -> dict[str, str | SecretReference]:
    """The secrets again. Raises `Unavailable` when the key is another one."""
    if sealed is None:
        return {}
    stored = orjson.loads(box.decrypt(sealed).get_secret_value())
    return {name: one if isinstance(one, str) else SecretReference.parse(one) for name, one in stored.items()}


def _check_command(name: str, command: Sequence[str]) -> None:
    if not command or not command[0].strip():
        raise BadMcpServer(f"The server '{name}' needs a command.", remedy="Give the program and its arguments.")
    if len(command) > MAX_ARGUMENTS or any(len(one) > MAX_TEXT or "\x00" in one for one in command):
        raise BadMcpServer(f"The command of the server '{name}' is too long, or holds a NUL.")


def _check_environment(name: str, environment: Mapping[str, str]) -> None:
    for key, value in environment.items():
        if not _ENVIRONMENT.fullmatch(key) or _LOADERS.fullmatch(key) or "\x00" in value:
            raise BadMcpServer(
                f"The server '{name}' may not be given the environment variable {key[:80]!r}.",
                remedy="Use letters, digits and _; what decides which program runs is not set here.",
            )
