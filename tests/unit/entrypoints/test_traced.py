"""What a step reaches outside, with a span around each call and nothing of what was said."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from headgate.entrypoints.traced import TracedHttp, TracedModels, traced_http, traced_models
from headgate.features.connections.http import GuardedClient
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import ChatModels
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.guarded_http import Credential, HttpAnswer
from headgate.foundation.settings import TelemetrySettings
from headgate.foundation.telemetry import Telemetry
from headgate.foundation.telemetry.otel import OtelTracing
from headgate.sdk import Model
from tests.support.direct import DIRECT
from tests.support.engine import make_services
from tests.support.otlp_receiver import OtlpReceiver

SECRET = "hush-hush-hush"
ORIGIN = Origin(RunKey("run", "tenant", "flow", 1), "step")


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as found:
        yield found


@pytest.fixture
def traces(collector: OtlpReceiver) -> OtelTracing:
    return OtelTracing(TelemetrySettings(otlp_endpoint=collector.endpoint), "test", DIRECT)


class OneAnswer:
    """Answers, or raises, as it was told."""

    def __init__(self, status: int) -> None:
        self.status = status

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
        credential: Credential | None = None,
    ) -> HttpAnswer:
        if self.status == 0:
            raise UpstreamFailed(f"{SECRET} is away")
        return HttpAnswer(status=self.status, headers={}, content=b"", media_type="text/plain", url=url)


class OneModel:
    """Gives the same chat model to everybody."""

    def __init__(self, chat: GenericFakeChatModel) -> None:
        self.chat = chat

    async def chat_model(self, origin: Origin, model: Model) -> GenericFakeChatModel:
        return self.chat


class TestTracedHttp:
    async def test_tells_host_and_status_and_no_path(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        http = TracedHttp(OneAnswer(204), traces)
        with traces.span("step"):
            await http.request("post", f"https://example.org/{SECRET}?key={SECRET}", body=SECRET)
        traces.close()
        (call,), (step,) = collector.named("POST"), collector.named("step")
        assert call.parent_id == step.span_id
        assert call.attributes == {
            "http.request.method": "POST",
            "server.address": "example.org",
            "http.response.status_code": 204,
        }
        assert SECRET.encode() not in collector.raw

    async def test_tells_the_code_of_a_failure(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        with pytest.raises(UpstreamFailed):
            await TracedHttp(OneAnswer(0), traces).request("GET", "http://[half")
        traces.close()
        (call,) = collector.spans
        assert (call.failed, call.attributes["error.type"]) == (True, "upstream_failed")
        assert SECRET.encode() not in collector.raw


class TestTracedModels:
    async def test_tell_provider_model_and_tokens(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
        chat = GenericFakeChatModel(messages=iter([AIMessage(SECRET, usage_metadata=usage)]))
        model = Model(provider="openai", name="gpt-x", params={})
        found = await TracedModels(cast("ChatModels", OneModel(chat)), traces).chat_model(ORIGIN, model)
        with traces.span("step"):
            assert (await found.ainvoke(SECRET)).text == SECRET
        traces.close()
        (call,), (step,) = collector.named("chat gpt-x"), collector.named("step")
        assert (call.trace_id, call.parent_id) == (step.trace_id, step.span_id)
        assert call.attributes["gen_ai.provider.name"] == "openai"
        assert (call.attributes["gen_ai.usage.input_tokens"], call.attributes["gen_ai.usage.output_tokens"]) == (3, 4)
        assert SECRET.encode() not in collector.raw

    async def test_tell_that_a_call_failed(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        chat = GenericFakeChatModel(messages=iter([]))
        found = await TracedModels(cast("ChatModels", OneModel(chat)), traces).chat_model(
            ORIGIN, Model(provider="p", name="m", params={})
        )
        with pytest.raises(RuntimeError):
            await found.ainvoke(SECRET)
        traces.close()
        assert collector.named("chat m")[0].failed


class TestTraced:
    def test_wraps_nothing_where_no_traces_are_exported(self, traces: OtelTracing) -> None:
        services = make_services(None)  # type: ignore[arg-type]
        silent, exported = Telemetry(), replace(Telemetry(), traces=traces)
        http = cast("GuardedClient", services.http)
        assert traced_http(http, silent) is http
        assert traced_models(services.chat_models, silent) is services.chat_models
        assert isinstance(traced_http(http, exported), TracedHttp)
        assert isinstance(traced_models(services.chat_models, exported), TracedModels)
        traces.close()
