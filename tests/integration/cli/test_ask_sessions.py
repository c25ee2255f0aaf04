"""`headgate ask --session`: the conversation of one command, in another process, on each database, without Redis."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from headgate.agents.assistant.memory.in_database import DatabaseBuffer
from headgate.agents.assistant.schemas import AssistRequest
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import OK
from headgate.entrypoints.compose import open_parts
from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Principal
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.scenarios.model import Model, read_by, speaking
from tests.integration.agents.assistant.scenarios.script import Answer, Intent
from tests.support.keyrings import data_keys
from tests.support.scripted_server import Asked, Script
from tests.support.tenants import add_colleague

WORD = "my word is wolverine"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    with speaking("openai") as speaker:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", speaker.server.base_url)
        yield speaker


def ask(model: Model, request: str, *more: str) -> str:
    """What the model was sent during a command in this process."""
    model.begin(Intent(intent="question"), [Answer(says="Noted: a friend of the stoat.")])
    assert run(["ask", request, "--model", "openai/gpt-5-mini", "--json", *more]) == OK
    return read_by(model.asked[-1])


def ask_in_a_process(model: Model, request: str, *more: str) -> None:
    """Run a command in a process of its own: importing everything takes it five seconds of processor time."""
    model.begin(Intent(intent="question"), [Answer(says="Noted: a friend of the stoat.")])
    command = [sys.executable, "-m", "headgate", "ask", request, "--model", "openai/gpt-5-mini", "--json", *more]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == OK, done.stdout + done.stderr


class TestSession:
    def test_continues_in_the_next_command(
        self, model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(settings.data_dir))
        monkeypatch.setenv("HEADGATE_DATABASE__URL", settings.database_url)
        secret = "sk-proj-" + "a1B2c3D4" * 5
        ask_in_a_process(model, f"{WORD}, and my key is {secret}", "--session", "x")
        context = ask(model, "what is my word?", "--session", "x")
        assert WORD in context
        assert "a friend of the stoat" in context
        assert secret not in context
        assert WORD not in ask(model, "what is my word?", "--session", "y")
        assert WORD not in ask(model, "what is my word?", "--session", "x", "--new-session")

    async def test_of_the_same_name_is_another_one_for_somebody_else(
        self, model: Model, settings: Settings, database: Database
    ) -> None:
        other = await add_colleague(database, "other", Role.OWNER)
        async with open_parts(settings) as parts:

            async def say(who: Principal, text: str) -> str:
                model.begin(Intent(intent="question"), [Answer(says="Noted.")])
                body = AssistRequest(
                    input_value=text, provider="openai", model_name="gpt-5-mini", session_id="x", apply=True
                )
                await parts.assistant.answer(await parts.assistant.open(who, body), body)
                return read_by(model.asked[-1])

            await say(LOCAL, WORD)
            assert WORD not in await say(other, "what is my word?")
            assert WORD in await say(LOCAL, "what is my word?")

    async def test_holds_no_connection_while_the_model_answers(
        self, model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own, held, sort = Database(settings), [], model.server.sort  # nobody else uses its connections
        assert sort is not None

        def watched(asked: Asked) -> Script | None:
            held.append(own.engine.pool.checkedout())  # type: ignore[attr-defined]
            return sort(asked)

        monkeypatch.setattr(model.server, "sort", watched)
        async with open_parts(settings) as parts:
            assistant = replace(parts.assistant, conversations=DatabaseBuffer(own, 60, data_keys(own)))
            for _ in range(2):
                model.begin(Intent(intent="question"), [Answer(says="Noted.")])
                body = AssistRequest(input_value=WORD, provider="openai", model_name="gpt-5-mini", session_id="x")
                await assistant.answer(await assistant.open(LOCAL, body), body)
        assert WORD in read_by(model.asked[-1])
        assert len(held) >= 2
        assert not any(held)
        await own.close()
