"""A result is answered complete, or marked as shortened with where the rest is; on both databases."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as variables
from headgate.foundation.settings import LimitSettings, Settings
from tests.integration.http.asking import listening
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK, add_key
from tests.support.team import FLOW, Team, team

INLINE = 20_000
"""Bytes of text that a row may hold in these tests; longer text is an artifact."""
SPEAKING = """name: Poet
nodes:
  heard: ChatInput
  poet: LanguageModel
    model: openai/gpt-5-mini
  said: ChatOutput
edges:
  heard.text -> poet.input
  poet.text -> said.input
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    limits = LimitSettings(max_inline_text_bytes=INLINE, max_inline_json_bytes=INLINE, max_inline_preview_bytes=1_000)
    async with team(settings, limits=limits, http=LOOPBACK) as client:
        yield client


@pytest.fixture
def provider(us: Team) -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def openai(us: Team) -> AsyncIterator[AsyncOpenAI]:
    async with listening(us.app) as address:
        key = await add_key(us.database, us.people["runner"])
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0) as client:
            yield client


def words(characters: int) -> str:
    """A text of that many characters in which every place is another."""
    return "".join(f"{number:07d}å" for number in range(characters // 8 + 1))[:characters]


async def published(us: Team, spec: str) -> str:
    flow_id = str((await us.make("editor", "/flows", spec=spec))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def streamed(client: AsyncOpenAI, model: str, text: str) -> str:
    messages: list[Any] = [{"role": "user", "content": text}]
    stream = await client.chat.completions.create(model=model, messages=messages, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


class TestRun:
    @pytest.mark.parametrize("characters", [499, 501, 15_000])
    async def test_is_answered_complete_in_detail(self, us: Team, characters: int) -> None:
        flow_id, text = await published(us, FLOW), words(characters)
        made = await us.make("runner", f"/flows/{flow_id}/runs", version="published", text=text, wait=True)
        read = await us.get("viewer", f"/flow-runs/{made['id']}")
        for run in (made, read):
            assert (run["text"], run["truncated"], run["download"]) == (text, False, None)
            assert run["output"]["text"] == text

    async def test_in_a_list_has_a_marked_beginning(self, us: Team) -> None:
        flow_id = await published(us, FLOW)
        for characters in (500, 501):
            await us.make("runner", f"/flows/{flow_id}/runs", version="published", text=words(characters), wait=True)
        longer, complete = (await us.get("viewer", f"/flow-runs?flow_id={flow_id}"))["items"]
        assert (len(longer["text"]), longer["truncated"]) == (500, True)
        assert (complete["text"], complete["truncated"]) == (words(500), False)

    async def test_over_the_inline_cap_says_how_long_it_is_and_where_the_rest_is(self, us: Team) -> None:
        flow_id, text = await published(us, FLOW), words(100_000)
        made = await us.make("runner", f"/flows/{flow_id}/runs", version="published", text=text, wait=True)
        read = await us.get("viewer", f"/flow-runs/{made['id']}")
        for run in (made, read):
            assert run["truncated"]
            assert run["output"]["truncated"]
            assert text.startswith(run["text"])
            assert 500 < len(run["text"]) < len(text)
            assert run["size_bytes"] > len(text)
            assert run["download"] == f"/api/v1/flow-runs/{made['id']}/text"
        response = await us.ask("viewer", "GET", f"/flow-runs/{made['id']}/text")
        assert (response.status_code, response.text) == (200, text)
        allowed = await us.allowed("GET", f"/flow-runs/{made['id']}/text")
        assert "viewer" in allowed
        assert "stranger" not in allowed
        (step,) = [one for one in read["output"]["outputs"].values() if one["text"]]
        entry = step["outputs"][step["main"]]
        artifact = await us.ask("viewer", "GET", entry["download"].removeprefix("/api/v1"))
        assert artifact.status_code == 200
        assert len(artifact.content) == entry["size_bytes"] == run["size_bytes"]

    async def test_of_a_step_links_to_its_artifact(self, us: Team) -> None:
        flow_id, text = await published(us, FLOW), words(100_000)
        made = await us.make("runner", f"/flows/{flow_id}/runs", version="published", text=text, wait=True)
        step = await us.get("viewer", f"/flow-runs/{made['id']}/steps/heard")
        entry = step["output"]["outputs"]["message"]
        assert entry["truncated"]
        artifact = await us.ask("viewer", "GET", entry["download"].removeprefix("/api/v1"))
        assert artifact.json()["text"] == text

    async def test_events_mark_a_shortened_preview(self, us: Team) -> None:
        flow_id = await published(us, FLOW)
        made = await us.make("runner", f"/flows/{flow_id}/runs", version="published", text=words(5_000), wait=True)
        events = (await us.ask("viewer", "GET", f"/flow-runs/{made['id']}/events")).text
        assert '"truncated":true' in events
        assert words(399) + "…" in events


class TestCompletion:
    async def test_has_the_complete_text_of_an_artifact(self, us: Team, openai: AsyncOpenAI) -> None:
        await published(us, FLOW)
        text = words(300_000)
        messages: list[Any] = [{"role": "user", "content": text}]
        completion = await openai.chat.completions.create(model="Talk", messages=messages)
        assert completion.choices[0].message.content == text
        assert completion.choices[0].finish_reason == "stop"
        assert await streamed(openai, "Talk", text) == text

    @pytest.mark.parametrize(
        "text", [words(100_000), f"  {words(1_500)}\n\n", "short"], ids=["long", "spaced", "short"]
    )
    async def test_streams_a_models_text_once(
        self, us: Team, openai: AsyncOpenAI, provider: OpenAIServer, text: str
    ) -> None:
        values = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": provider.base_url}
        async with us.database.writing() as session:
            for name, value in values.items():
                await variables.set_variable(
                    session, LOCAL, us.app.state.box, name=name, value=SecretStr(value), organisation=True
                )
        await published(us, SPEAKING)
        provider.script(provider.text(text))
        assert (await streamed(openai, "Poet", "go")).strip() == text.strip()
