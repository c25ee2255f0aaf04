"""Where a server is and what it is told: addresses, commands, headers, with the values of variables filled in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlsplit

import orjson
from pydantic import SecretStr

from headgate.features.mcptools.errors import BadMcpServer
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import NotFound
from headgate.foundation.guarded_http.headers import check_headers
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.log import redact_text
from headgate.foundation.secret_values import REDACTED

MAX_ARGUMENTS = 64
MAX_SECRETS = 64
MAX_TEXT = 4096
"""Characters of one argument or value."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z]{1,20} )?(?P<name>[A-Za-z_]\w{0,127})", re.ASCII)
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_LOADERS = re.compile(r"LD_.*|DYLD_.*|PYTHON(PATH|HOME|STARTUP|USERBASE)|NODE_OPTIONS|PATH|HOME|SHELL", re.ASCII)
"""What a program's environment may not set: each makes another program of it."""
_SHORTEST_SECRET = 6


class Secrets(Protocol):
    """A tenant's encrypted variables."""

    async def secret(self, tenant_id: str, name: str, *, url: str | None = None) -> SecretStr:
        """The value; with `url`, for a request to that address. Raises `NotFound`, `Forbidden`."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """A server to talk to."""

    name: str
    transport: str
    url: str = ""
    command: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of an address, environment of a program."""

    async def filled(self, tenant_id: str, variables: Secrets) -> "Target":
        """With the variables that its values name in place of their names.

        Raises `Forbidden` when one is kept for other servers.
        """
        filled = {name: await self._filled(value, tenant_id, variables) for name, value in self.secrets.items()}
        return replace(self, secrets=filled)

    async def _filled(self, written: str, tenant_id: str, variables: Secrets) -> str:
        """The variable that the whole value, or what follows its scheme, names; else the value as it is written."""
        match = _VARIABLE.fullmatch(written.strip())
        if match is None:
            return written
        try:
            found = await variables.secret(tenant_id, match["name"], url=self.url or None)
        except NotFound:
            return written
        return f"{match['scheme'] or ''}{found.get_secret_value()}"

    def scrubbed(self, text: str) -> str:
        """Text of the server without the secrets that it was sent."""
        told = {part for value in self.secrets.values() for part in (value, value.rpartition(" ")[2])}
        for secret in sorted(told, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, REDACTED)
        return redact_text(text)


def check_name(name: str) -> None:
    """Raise `BadMcpServer` when no server may be called that: a dot would blur `server.tool`."""
    if not _NAME.fullmatch(name):
        raise BadMcpServer(
            f"{name[:70]!r} is no name for an MCP server.",
            remedy="Use up to 64 small letters, digits, - and _, a letter first.",
        )


def checked_target(
    name: str, transport: str, *, url: str, command: Sequence[str], secrets: Mapping[str, SecretStr]
) -> Target:
    """The server as it may be stored. Raises `BadMcpServer`, or what reading the address or a header raises."""
    if len(secrets) > MAX_SECRETS or any(len(one.get_secret_value()) > MAX_TEXT for one in secrets.values()):
        raise BadMcpServer(f"The server '{name}' has more, or longer, headers or variables than are kept.")
    plain = {key: value.get_secret_value() for key, value in secrets.items()}
    if transport == "http":
        if command:
            raise BadMcpServer(f"The server '{name}' has an address, so it has no command.")
        target = parse_target(url)
        check_headers(plain)
        return Target(name, transport, url=target.url, secrets=plain)
    if url:
        raise BadMcpServer(f"The server '{name}' is a program, so it has no address.")
    _check_command(name, command)
    _check_environment(name, plain)
    return Target(name, transport, command=tuple(command), secrets=plain)


def same_place(before: Target, after: Target) -> bool:
    """Whether what was meant for one may be sent to the other: the same origin, the same program."""
    if before.transport != after.transport:
        return False
    if before.transport == "stdio":
        return before.command == after.command
    return urlsplit(before.url)[:2] == urlsplit(after.url)[:2]


def seal(box: SecretBox, secrets: Mapping[str, str]) -> bytes | None:
    """The secrets encrypted; None when there are none."""
    return box.encrypt(SecretStr(orjson.dumps(dict(secrets)).decode())) if secrets else None


def unseal(box: SecretBox, sealed: bytes | None) -> dict[str, str]:
    """The secrets again. Raises `Unavailable` when the key is another one."""
    if sealed is None:
        return {}
    found: dict[str, str] = orjson.loads(box.decrypt(sealed).get_secret_value())
    return found


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
