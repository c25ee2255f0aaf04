"""What secret stores share: the request, the name below the organisation's prefix, and what their answers mean."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson
from pydantic import JsonValue

from headgate.features.connections.errors import VaultFailed, VaultRefused
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.errors import HeadgateError
from headgate.foundation.extras import require_extra
from headgate.foundation.guarded_http import HttpAnswer
from headgate.foundation.settings import ConnectionSettings

MAX_FILE_BYTES = 64 * 1024


class StoreHttp(Protocol):
    """The guarded client for the operator's stores."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send a request."""


class SecretStore(Protocol):
    """A service in which an operator keeps secrets."""

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return the text that a reference names. Raises `VaultRefused`, `VaultFailed`, `ExtraNotInstalled`."""


async def answer_of(
    http: StoreHttp, url: str, headers: Mapping[str, str], timeout_seconds: float, body: bytes | None = None
) -> HttpAnswer:
    """Return the answer of a store to a GET, or to a POST with a body. Raises `VaultFailed` without one."""
    method = "GET" if body is None else "POST"
    try:
        return await http.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
    except HeadgateError as error:
        raise VaultFailed(f"The vault cannot be used: {error.detail}", remedy="Ask the operator.") from error


@dataclass(frozen=True, slots=True)
class CloudStore:
    """A store of a cloud, as an operator configures it."""

    service: str
    """Its name for users."""
    setting: str
    """The setting of connections that configures it."""
    extra: str
    """The extra with the library that finds the credentials of the server's process."""
    names: str
    """Pattern of the whole name of a secret."""

    def name(self, settings: ConnectionSettings, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return the name of a secret below the prefix. Raises `VaultRefused`, `ExtraNotInstalled`."""
        if not getattr(settings, self.setting):
            raise VaultRefused(
                f"{self.service} is not configured here.",
                remedy=f"The operator sets HEADGATE_CONNECTIONS__{self.setting.upper()}.",
            )
        name = settings.cloud_prefix.format(tenant_id=tenant_id, space_id=space_id) + value.path
        if re.fullmatch(self.names, name, re.ASCII) is None:
            raise VaultRefused(
                f"{value.path[:80]!r} is not a name in the store.",
                remedy="Write the name of the secret without its prefix.",
            )
        require_extra(self.extra, self.service)
        return name


def json_of(answer: HttpAnswer, value: OutsideValue) -> JsonValue:
    """Return the JSON of a successful answer. Raises `VaultFailed`."""
    if answer.status != 200:
        reasons = {
            401: ("refuses the identity of the server", "Ask the operator to check it."),
            403: ("refuses the token", "Ask the operator to give the token read access to this path."),
            404: ("has no such value", "Check the path."),
        }
        reason, remedy = reasons.get(answer.status, (f"answered {answer.status}", "Ask the operator."))
        raise VaultFailed(f"The vault {reason}: {value}.", remedy=remedy)
    try:
        content: JsonValue = orjson.loads(answer.content)
    except orjson.JSONDecodeError as error:
        raise VaultFailed(f"The vault did not answer with JSON: {value}.", remedy="Ask the operator.") from error
    return content


def member_at(content: JsonValue, path: tuple[str, ...], value: OutsideValue) -> str:
    """Return the text at a path of an answer. Raises `VaultFailed`."""
    member: JsonValue = content
    for name in path:
        member = member.get(name) if isinstance(member, dict) else None
    if member is None:
        raise VaultFailed(f"The vault has no '{path[-1]}' in {value.path}.", remedy="Name a member of the value.")
    if not isinstance(member, str):
        raise VaultFailed(f"The value {value} of the vault is no text.", remedy="Store it as text.")
    return member


def decoded(text: str, value: OutsideValue) -> str:
    """Return the UTF-8 text of base64. Raises `VaultFailed`."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise VaultFailed(f"The value {value} of the vault is no text.", remedy="Store it as text.") from error


def member_of(text: str, value: OutsideValue) -> str:
    """Return the text, or a member of it when it is JSON and the reference names one. Raises `VaultFailed`."""
    if not value.key:
        return text.strip("\n")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    member = document.get(value.key) if isinstance(document, dict) else None
    if not isinstance(member, str):
        raise VaultFailed(f"The value {value} has no text '{value.key}'.", remedy="Correct the reference.")
    return member


def identity_failed(service: str, error: Exception) -> VaultFailed:
    """Return the error for credentials of the server that a service's library could not get.

    The library's message is not shown: it can contain parts of a credential.
    """
    return VaultFailed(
        f"Headgate has no identity for {service} ({type(error).__name__}).",
        remedy=f"The operator gives the server's process credentials that the library of {service} finds.",
    )


def content_of(path: Path, name: str) -> str:
    """Return the text of a file of at most 64 KiB. Raises `VaultFailed`."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise VaultFailed(f"The file {name[:80]} is larger than {MAX_FILE_BYTES} bytes.")
        return content.decode()
    except (OSError, ValueError) as error:
        raise VaultFailed(f"The file {name[:80]} cannot be read.", remedy="Ask the operator to create it.") from error
