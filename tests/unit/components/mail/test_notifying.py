"""Notifications: the library runs without a network, its requests go through the connection's client."""

import json
from typing import Any

import pytest

from headgate.components.mail.notifying import Notify
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness

NTFY = "https://ntfy.example.org/"


def harness_for(address: str) -> StepHarness:
    harness = StepHarness()
    harness.connect("team", "notification", {"hosts": ["https://ntfy.example.org"]}, secrets={"address": address})
    return harness


async def notify(harness: StepHarness, **values: Any) -> Any:
    return (await harness.run(Notify, {"service": "team", "text": "**Hi**", "title": "News", **values}))["data"]


class TestNotify:
    async def test_sends_the_requests_of_a_service(self) -> None:
        harness = harness_for("ntfys://ntfy.example.org/alerts")
        harness.http.answer(NTFY, {"id": "1"}, method="POST")
        assert await notify(harness) == {"sent": True}
        (request,) = harness.http.requests
        sent = json.loads(request.body)
        assert (sent["topic"], sent["title"]) == ("alerts", "News")
        assert "Hi" in sent["message"]

    async def test_sends_the_next_request_of_a_service_with_the_answer_of_the_last(self) -> None:
        harness = harness_for("matrixs://ann:secret-word@ntfy.example.org/!room:example.org?discovery=no")
        base = "https://ntfy.example.org/_matrix/client/v3"
        harness.http.answer(
            f"{base}/login", {"access_token": "t", "home_server": "h", "user_id": "@a:h"}, method="POST"
        )
        with pytest.raises(UpstreamFailed, match="No answer is scripted"):
            await notify(harness)
        assert len(harness.http.requests) > 1
        assert harness.http.requests[-1].headers.get("Authorization") == "Bearer t"

    async def test_says_that_it_was_refused(self) -> None:
        harness = harness_for("ntfys://ntfy.example.org/alerts")
        harness.http.answer(NTFY, {"error": "no"}, method="POST", status=403)
        with pytest.raises(UpstreamFailed, match="its last answer has the status 403"):
            await notify(harness)

    @pytest.mark.parametrize("address", ["", "nothing", "file:///etc/passwd", "mailto://a:b@example.org", "syslog://"])
    async def test_reaches_nothing_but_over_http(self, address: str) -> None:
        harness = harness_for(address)
        with pytest.raises((ComponentError, UpstreamFailed)):
            await notify(harness)
        assert harness.http.requests == []

    async def test_shows_no_key(self, caplog: pytest.LogCaptureFixture) -> None:
        harness = harness_for("ntfys://ann:secret-word@ntfy.example.org/alerts")
        harness.http.answer(NTFY, {"error": "no"}, method="POST", status=403)
        with pytest.raises(UpstreamFailed) as refused:
            await notify(harness)
        assert "secret-word" not in f"{refused.value} {refused.value.problem()} {caplog.text} {harness.ctx.logs}"

    @pytest.mark.parametrize("text", ["", " ", "x" * 30_001])
    async def test_refuses_no_text_and_too_much(self, text: str) -> None:
        with pytest.raises(ComponentError, match="characters"):
            await notify(harness_for("ntfys://ntfy.example.org/alerts"), text=text)
