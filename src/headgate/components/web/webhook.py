"""The component that delivers a result to another system, signed and idempotent."""

import json
import time
from typing import Literal

from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.components.web.http_headers import HEADERS_HELP, KEY_HELP, KEY_LABEL, checked_headers
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.webhooks import delivery_key, signature_headers
from headgate.graph.names import clipped
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, HttpAnswer, SecretReference, field, output
from headgate.sdk.coerce import encode


class WebhookOut(Component):
    """Posts a result as JSON to an address, signed after Standard Webhooks when a secret is given.

    A delivery that fails does not fail the flow: `response` says so, and the same delivery can be sent again.
    """

    label = "Webhook"
    category = "output"
    icon = "webhook"
    effect = True
    outside = True
    keywords = (
        "post", "send", "notify", "notification", "callback", "deliver", "push", "call", "integrate", "integration",
        "zapier", "n8n", "slack", "endpoint", "signature", "http", "event", "alert",
    )  # fmt: skip

    url: str = field(label="Address", help="URL to post to, https://...", max_length=8000, syntax="url")
    payload: str | Data = field(
        default=None,
        label="Payload",
        help='What to send: data unchanged, text as {"text": ...}; empty sends the ids of run and node.',
        main=True,
        types=(PortType.DATA, PortType.TEXT),
        kind=FieldKind.JSON,
    )
    headers: dict[str, str | SecretReference] = field(
        default_factory=dict, label="Headers", help=HEADERS_HELP, port=False, advanced=True
    )
    secret: SecretReference | None = field(
        default=None,
        label="Secret",
        help="The secret that signs the delivery: `whsec_...` or any text that the receiver knows.",
        interpolate=False,
    )
    on_error: Literal["report", "fail"] = field(
        default="report",
        label="When delivery fails",
        help="report: the flow continues and `response` has the error; fail: the step fails.",
        advanced=True,
    )
    idempotency_key: bool = field(default=True, label=KEY_LABEL, help=KEY_HELP, port=False, advanced=True)

    @output(help="webhook_delivered, webhook_id, status, and the answer's body or webhook_error.")
    async def response(self) -> Data:
        """Post once. The id is the same whenever this step of this run is sent again."""
        webhook_id = delivery_key(self.ctx.run_id, self.ctx.node_id)
        body = self._body()
        headers = await checked_headers(self.ctx, self.headers, component="WebhookOut", url=self.url)
        headers |= {"content-type": "application/json", "webhook-id": webhook_id}
        if self.idempotency_key:
            headers.setdefault("idempotency-key", webhook_id)
        if self.secret is not None:
            secret = await self.ctx.secret(self.secret, url=self.url)
            headers |= signature_headers(secret.get_secret_value(), webhook_id, int(time.time()), body)
        await self.ctx.check_cancelled()
        try:
            http_response = await self.ctx.http.request("POST", self.url, headers=headers, body=body)
        except UpstreamFailed as error:
            return self._failed(webhook_id, error.detail, None)
        if not 200 <= http_response.status < 300:
            return self._failed(webhook_id, f"The receiver answered {http_response.status}.", http_response)
        return {
            "webhook_delivered": True,
            "webhook_id": webhook_id,
            "status": http_response.status,
            "body": _body_of(http_response),
        }

    def _body(self) -> bytes:
        payload: JsonValue = {"text": self.payload} if isinstance(self.payload, str) else self.payload
        if payload is None:
            payload = {"run_id": self.ctx.run_id, "node_id": self.ctx.node_id}
        return json.dumps(encode(payload, PortType.DATA), ensure_ascii=False, separators=(",", ":")).encode()

    def _failed(self, webhook_id: str, reason: str, http_response: HttpAnswer | None) -> Data:
        if self.on_error == "fail":
            raise UpstreamFailed(f"WebhookOut could not deliver: {reason}", remedy="Check the URL and the receiver.")
        self.ctx.log("The webhook was not delivered.", webhook_id=webhook_id, why=reason)
        report: dict[str, JsonValue] = {"webhook_delivered": False, "webhook_id": webhook_id, "webhook_error": reason}
        if http_response is not None:
            report |= {"status": http_response.status, "body": clipped(http_response.text, 2000)}
        return report


def _body_of(http_response: HttpAnswer) -> JsonValue:
    try:
        return parse_json(http_response.text, subject="WebhookOut") if http_response.content else None
    except ComponentError:
        return clipped(http_response.text, 2000)
