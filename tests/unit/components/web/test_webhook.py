"""Webhook delivery and its signature."""

import base64
import hashlib
import hmac

import pytest

from headgate.components.web.webhook import WebhookOut
from headgate.foundation.errors import Cancelled, Forbidden, NotFound, UpstreamFailed
from headgate.foundation.webhooks import delivery_key
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness

URL = "https://hook.test/in"


def harness_with(status: int = 200, body: object = "ok") -> StepHarness:
    harness = StepHarness()
    harness.http.answer(URL, body, method="POST", status=status)  # type: ignore[arg-type]
    return harness


class TestWebhookOut:
    async def test_posts_data_as_json_with_a_stable_id(self) -> None:
        harness = harness_with(body={"received": True})
        outputs = await harness.run(WebhookOut, {"url": URL, "payload": {"ä": [1]}, "headers": {"X-Team": "a"}})
        request = harness.http.requests[0]
        wanted = hashlib.sha256(b"run-1node").hexdigest()
        assert request.body == '{"ä":[1]}'.encode()
        assert request.headers == {
            "x-team": "a",
            "content-type": "application/json",
            "idempotency-key": wanted,
            "webhook-id": wanted,
        }
        assert outputs["response"] == {
            "webhook_delivered": True, "webhook_id": wanted, "status": 200, "body": {"received": True},
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("payload", "sent"),
        [({}, {"run_id": "run-1", "node_id": "node"}), ({"payload": "hi"}, {"text": "hi"}), ({"payload": []}, [])],
    )
    async def test_wraps_text_and_names_the_run_when_empty(self, payload: dict[str, object], sent: object) -> None:
        harness = harness_with()
        await harness.run(WebhookOut, {"url": URL, **payload})
        assert harness.http.requests[0].json == sent

    async def test_sends_the_key_that_was_set(self) -> None:
        harness = harness_with()
        await harness.run(WebhookOut, {"url": URL, "headers": {"Idempotency-Key": "mine"}})
        assert harness.http.requests[0].headers["idempotency-key"] == "mine"

    async def test_sends_no_key_where_it_is_switched_off(self) -> None:
        harness = harness_with()
        await harness.run(WebhookOut, {"url": URL, "idempotency_key": False})
        assert "idempotency-key" not in harness.http.requests[0].headers

    async def test_signs_what_it_sends(self) -> None:
        harness = harness_with()
        harness.ctx.secrets["HOOK_KEY"] = "s3cret"
        await harness.run(WebhookOut, {"url": URL, "payload": {"a": 1}, "secret": {"secret": "HOOK_KEY"}})
        request = harness.http.requests[0]
        signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
        digest = base64.b64encode(hmac.new(b"s3cret", signed, hashlib.sha256).digest()).decode()
        assert request.headers["webhook-signature"] == f"v1,{digest}"
        assert "s3cret" not in str(request)

    async def test_names_a_secret_that_is_not_there(self) -> None:
        with pytest.raises(NotFound, match="HOOK_KEY"):
            await harness_with().run(WebhookOut, {"url": URL, "secret": {"secret": "HOOK_KEY"}})

    async def test_reports_a_refused_delivery_without_failing(self) -> None:
        outputs = await harness_with(500, "boom").run(WebhookOut, {"url": URL})
        report = outputs["response"]
        assert (report["webhook_delivered"], report["status"], report["body"]) == (False, 500, "boom")
        assert "answered 500" in report["webhook_error"]

    async def test_reports_an_unreachable_receiver(self) -> None:
        outputs = await StepHarness().run(WebhookOut, {"url": "https://nowhere.test"})
        assert outputs["response"]["webhook_delivered"] is False

    async def test_fails_when_told_to(self) -> None:
        with pytest.raises(UpstreamFailed, match="answered 404"):
            await harness_with(404).run(WebhookOut, {"url": URL, "on_error": "fail"})

    async def test_lets_a_forbidden_address_fail_the_step(self) -> None:
        harness = StepHarness()
        harness.http.fail(URL, Forbidden("private address"), method="POST")
        with pytest.raises(Forbidden):
            await harness.run(WebhookOut, {"url": URL})

    async def test_sends_nothing_once_cancelled(self) -> None:
        harness = harness_with()
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(WebhookOut, {"url": URL})
        assert harness.http.requests == []

    @pytest.mark.parametrize(
        ("headers", "words"),
        [
            ({"X-A": "b\r\nX-Evil: 1"}, "line break"),
            ({"X-A\n": "b"}, "is not a valid header name"),
            ({"": "b"}, "is not a valid header name"),
            ({"Content-Length": "0"}, "set by Headgate"),
            ({"host": "other"}, "set by Headgate"),
        ],
    )
    async def test_refuses_header_injection(self, headers: dict[str, str], words: str) -> None:
        harness = harness_with()
        with pytest.raises(ComponentError, match=words):
            await harness.run(WebhookOut, {"url": URL, "headers": headers})
        assert harness.http.requests == []

    async def test_keeps_its_own_headers(self) -> None:
        harness = harness_with()
        await harness.run(WebhookOut, {"url": URL, "headers": {"Webhook-Id": "forged", "Content-Type": "x/y"}})
        assert harness.http.requests[0].headers["webhook-id"] == delivery_key("run-1", "node")
        assert harness.http.requests[0].headers["content-type"] == "application/json"
