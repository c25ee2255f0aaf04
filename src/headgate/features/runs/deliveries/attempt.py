"""One delivery attempt: builds the request from the target and the step's output, and classifies the outcome."""

import time
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
from pydantic import SecretStr

from headgate.features.runs.deliveries.target import Header, Target
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import Secrets
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.steps.payloads import unpack
from headgate.foundation.errors import Conflict, HeadgateError, NotFound, Unavailable, UpstreamFailed
from headgate.foundation.log import redact_text
from headgate.foundation.webhooks import signature_headers
from headgate.graph.ports import PortType
from headgate.sdk.coerce import clean_text, decode, text_of

SIGNING_VARIABLE = "WEBHOOK_SECRET"
"""The variable whose value signs deliveries. Without it they are not signed."""
WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429})
"""Client errors (4xx) that may be temporary. With any other one the receiver rejects the delivery."""
STATUS_REFUSED = "delivery_refused"
STATUS_FAILED = "receiver_failed"
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


class OnePost(Protocol):
    """The methods of the guarded HTTP client that deliveries use."""

    async def post_once(self, url: str, *, headers: dict[str, str], body: bytes, timeout_seconds: float) -> int:
        """Send one POST without retries and return the status. Raises `UpstreamFailed`, `Forbidden` or `Invalid`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an attempt."""

    delivered: bool
    final: bool
    """Whether a retry would have the same outcome."""
    status: int | None = None
    code: str | None = None
    message: str | None = None


def outcome_of(error: HeadgateError) -> Outcome:
    """Return the outcome of an attempt that raised."""
    passing = isinstance(error, UpstreamFailed | Unavailable | Conflict)
    return Outcome(delivered=False, final=not passing, code=error.code, message=clean_text(redact_text(str(error))))


def outcome_of_status(status: int) -> Outcome:
    """Return the outcome of an attempt that the receiver answered."""
    if 200 <= status < 300:
        return Outcome(delivered=True, final=True, status=status)
    final = 400 <= status < 500 and status not in WORTH_ANOTHER_TRY
    description = f"The receiver answered {status}."
    return Outcome(
        delivered=False,
        final=final,
        status=status,
        code=STATUS_REFUSED if final else STATUS_FAILED,
        message=description,
    )


def signed(key: str, body: bytes, secret: SecretStr | None) -> dict[str, str]:
    """Return the headers that identify a delivery, and with a secret its signature."""
    at = int(time.time())
    headers = {"idempotency-key": key, "webhook-id": key, "webhook-timestamp": str(at)}
    return headers if secret is None else headers | signature_headers(secret.get_secret_value(), key, at, body)


@dataclass(frozen=True, slots=True)
class Sender:
    """Makes delivery attempts."""

    http: OnePost
    secrets: Secrets
    files: RunFiles

    async def attempt(
        self,
        target: Target,
        delivery: Any,  # noqa: ANN401 - a row
        origin: Origin,
        payload: str | None,
    ) -> Outcome:
        """Send a delivery once. Errors are returned as the outcome; nothing is raised."""
        try:
            status = await self._send(target, delivery, origin, payload)
        except HeadgateError as error:
            return outcome_of(error)
        return outcome_of_status(status)

    async def _send(self, target: Target, delivery: Any, origin: Origin, payload: str | None) -> int:  # noqa: ANN401
        body, media_type = await self._body(target, delivery, payload)
        headers = {"content-type": media_type}
        for header in target.headers:
            headers[header.name.lower()] = await self._value(header, origin, target.url)
        headers |= signed(delivery.idempotency_key, body, await self._signing_secret(origin))
        return await self.http.post_once(target.url, headers=headers, body=body, timeout_seconds=target.timeout_seconds)

    async def _value(self, header: Header, origin: Origin, url: str) -> str:
        if header.secret is None:
            return header.text
        secret = await self.secrets.secret(origin, header.secret.name, url=url)
        return header.secret.filled(secret.get_secret_value())

    async def _signing_secret(self, origin: Origin) -> SecretStr | None:
        try:
            return await self.secrets.secret(origin, SIGNING_VARIABLE)
        except NotFound:
            return None

    async def _body(self, target: Target, delivery: Any, payload: str | None) -> tuple[bytes, str]:  # noqa: ANN401
        """Return the step's configured body, or its main output: text, JSON or the content of a file."""
        if target.body is not None:
            return target.body.encode(), _JSON if target.body.lstrip()[:1] in {"{", "["} else _TEXT
        if payload is None:
            raise NotFound("The step's output is no longer stored, so there is nothing to deliver.")
        stored = orjson.loads(payload)
        main = stored.get("main")
        if main is None:
            return b"", _TEXT
        value = (await unpack(payload, delivery.tenant_id, self.files))[main]
        kind = PortType(stored["outputs"][main]["type"])
        if kind is PortType.FILE and isinstance(value, dict):
            content = await self.files.read_in(delivery.tenant_id, delivery.flow_id, str(value["id"]))
            return content, str(value["media_type"])
        if kind in {PortType.DATA, PortType.TABLE}:
            return orjson.dumps(value), _JSON
        return text_of(decode(value, kind)).encode(), _JSON if target.as_json else _TEXT
