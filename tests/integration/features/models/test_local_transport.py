"""Calls of a local model through its transports; the process itself is a stand-in."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import psutil
import pytest
from langchain_core.language_models import BaseChatModel
from pydantic import JsonValue

from headgate.features.models import errors
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.server import LocalModelServer
from headgate.features.models.service import create_chat_model
from headgate.sdk import Model
from tests.integration.features.models.conformance import Adapter, ChatModelConformance, ProviderServer, Rig
from tests.integration.features.models.conftest import FAKE, Shop
from tests.integration.features.models.test_local_server import gone
from tests.integration.features.models.test_providers import ToollessServer
from tests.support.keys import GivenKeys
from tests.support.scripted_server import Asked, Reply
from tests.support.web import open_web


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true within five seconds."""
    deadline = time.monotonic() + 5
    while not (done := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return done


async def chat(shop: Shop, name: str = "one", **params: JsonValue) -> BaseChatModel:
    local = LocalModels(models_dir=shop.folder, server=shop.server)
    return await create_chat_model(
        Model(provider="local", name=name, params=params), GivenKeys(), local=local, web=open_web()
    )


class TestTransports:
    async def test_start_nothing_until_a_call_is_made(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        answers.script(answers.text("Hi"))
        model = await chat(shop)
        assert shop.server.running is None
        assert (await model.ainvoke("Hello")).text == "Hi"
        assert shop.server.running is not None

    async def test_open_the_process_with_its_token(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        answers.script(answers.text("Hi"))
        await (await chat(shop)).ainvoke("Hello")
        asked = answers.asked[0]
        assert asked.headers["authorization"] == f"Bearer {shop.started[0]['token']}"
        assert asked.headers["host"] == answers.origin.removeprefix("http://")
        assert asked.path == "/v1/chat/completions"

    async def test_ignore_proxies_meant_for_the_web(
        self, shop: Shop, answers: ToollessServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        shop.model("one")
        answers.script(answers.text("Hi"))
        assert (await (await chat(shop)).ainvoke("Hello")).text == "Hi"

    async def test_start_the_process_again_after_it_died(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        answers.script(answers.text("Hi"))
        model = await chat(shop)
        await model.ainvoke("Hello")
        os.kill(shop.started[0]["pid"], signal.SIGKILL)
        assert await asyncio.to_thread(gone, shop.started[0]["pid"])
        assert (await model.ainvoke("Hello")).text == "Hi"
        assert len(shop.started) == 2

    async def test_let_two_models_take_turns(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        shop.model("two")
        answers.script(answers.slow_text("Hi", 0.1))
        models = [await chat(shop, name) for name in ("one", "two", "one", "two")]
        said = await asyncio.gather(*(model.ainvoke("Hello") for model in models))
        assert [one.text for one in said] == ["Hi"] * 4
        assert {start["name"] for start in shop.started} == {"one", "two"}

    async def test_give_the_model_back_when_a_stream_is_left(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        shop.model("two")
        answers.script(answers.text("One two three"))
        stream = (await chat(shop)).astream("Count")
        await anext(stream)
        await cast("Any", stream).aclose()
        assert (await (await chat(shop, "two")).ainvoke("Hello")).text == "One two three"

    async def test_give_the_model_back_when_a_call_is_cancelled(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        shop.model("two")
        answers.script(answers.slow(30))
        for wait in (0.0, 0.02, 0.6):
            call = asyncio.create_task((await chat(shop)).ainvoke("Hello"))
            await asyncio.sleep(wait)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert await asyncio.to_thread(eventually, lambda: shop.server.try_acquire(shop.model("two")) is not None)

    async def test_tell_why_a_model_does_not_load(self, shop: Shop) -> None:
        shop.model("refuses")
        model = await chat(shop, "refuses")
        with pytest.raises(errors.LocalModelFailed, match="version 99"):
            await model.ainvoke("Hello")
        with pytest.raises(errors.LocalModelFailed, match="version 99"):
            await asyncio.to_thread(model.invoke, "Hello")

    async def test_serve_blocking_callers(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        answers.script(answers.text("One two three"))
        model = await chat(shop)
        pieces = await asyncio.to_thread(lambda: list(model.stream("Count")))
        assert "".join(piece.text for piece in pieces) == "One two three"
        assert shop.server.busy == 0

    async def test_leave_no_connection_behind(self, shop: Shop, answers: ToollessServer) -> None:
        shop.model("one")
        answers.script(answers.text("Hi"))
        model = await chat(shop)
        for _ in range(3):
            await model.ainvoke("Hello")
        port = httpx2.URL(answers.origin).port
        mine = [one for one in psutil.Process().net_connections("tcp") if one.raddr and one.raddr.port == port]
        assert [one for one in mine if one.status == psutil.CONN_ESTABLISHED] == []


@dataclass
class LocalRig(Rig):
    """A local model, its process announcing the scripted server."""

    folder: Path = Path()
    log: Path = Path()
    servers: list[LocalModelServer] = field(default_factory=list)

    @property
    def token(self) -> str:
        return str(json.loads(self.log.read_text().splitlines()[-1])["token"])

    async def model_at(self, address: str, **params: JsonValue) -> BaseChatModel:
        path = self.folder / f"{self.adapter.model}.gguf"
        path.write_bytes(b"GGUF" + b"\0" * 2000)
        server = LocalModelServer(command=(*FAKE, address.removesuffix("/v1"), str(self.log)))
        self.servers.append(server)
        local = LocalModels(models_dir=self.folder, server=server)
        settings: dict[str, JsonValue] = {"max_retries": 0, "timeout_seconds": 5, **params}
        return await create_chat_model(
            Model(provider="local", name=self.adapter.model, params=settings), GivenKeys(), local=local, web=open_web()
        )


class TestLocalModel(ChatModelConformance):
    """The whole suite on a local model."""

    @pytest.fixture
    def rig(self, tmp_path: Path, answers: ToollessServer) -> Iterator[LocalRig]:
        adapter = Adapter("local", ToollessServer, "local", "house-model", "", "", "authorization")
        rig = LocalRig(adapter, cast("ProviderServer", answers), tmp_path, tmp_path / "log")
        yield rig
        for server in rig.servers:
            server.close()

    async def test_sends_the_key_where_the_protocol_wants_it(self, rig: Rig) -> None:
        assert isinstance(rig, LocalRig)
        rig.server.script(rig.server.text("Hi"))
        await (await rig.model()).ainvoke("Hello")
        assert rig.server.asked[0].headers["authorization"] == f"Bearer {rig.token}"

    async def test_names_the_variable_of_a_key_that_is_rejected(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.wrong_key("That token is wrong."))
        assert isinstance(error, errors.KeyRejected)
        assert "variable" not in error.extra

    async def test_hides_a_key_that_the_server_repeats(self, rig: Rig) -> None:
        assert isinstance(rig, LocalRig)

        def repeat(asked: Asked) -> Reply:
            return rig.server.wrong_key(f"Incorrect key provided: {asked.headers['authorization']}")

        error = await rig.failure(repeat)
        assert "Incorrect key provided" in error.detail
        assert rig.token not in str(error)
