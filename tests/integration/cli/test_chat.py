"""`headgate chat`, in this process."""

import io
import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli import chat
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import INVALID, NOT_FOUND, WAITING
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered
from tests.support.team import FLOW

__all__ = ["data_folder"]
pytestmark = pytest.mark.usefixtures("data_folder")
ASKS = (
    "name: Ask\nnodes:\n  heard: ChatInput\n  check: Approval\n    question: Pay it?\n  said: ChatOutput\n"
    "edges:\n  heard.text -> check.value\n  check.approve -> said.input\n"
)


def published(folder: Path, capsys: pytest.CaptureFixture[str], spec: str) -> str:
    path = folder / "talk.flow"
    path.write_text(spec)
    flow_id: str = answered(capsys, "import", str(path))["id"]
    assert run(["flows", "publish", flow_id]) == 0
    capsys.readouterr()
    return flow_id


class TestChat:
    def test_continues_lists_and_shows_a_conversation(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        flow_id = published(data_folder, capsys, FLOW)
        first = answered(capsys, "chat", flow_id, "hello")
        assert (first["status"], first["text"]) == ("completed", "hello")
        conversation = first["conversation_id"]
        assert answered(capsys, "chat", flow_id, "again", "--conversation", conversation)["text"] == "again"
        (listed,) = answered(capsys, "chat", flow_id, "--list")
        assert (listed["id"], listed["title"]) == (conversation, "hello")
        history = answered(capsys, "chat", flow_id, "--history", "--conversation", conversation)
        assert [row["input"]["text"] for row in history] == ["hello", "again"]
        assert run(["chat", flow_id, "--history", "--conversation", conversation]) == 0
        assert "> hello" in capsys.readouterr().out

    def test_rates_the_last_answer_with_a_correction(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        flow_id = published(data_folder, capsys, FLOW)
        conversation = answered(capsys, "chat", flow_id, "hello")["conversation_id"]
        last = answered(capsys, "chat", flow_id, "again", "--conversation", conversation)["run_id"]
        rate = ["chat", flow_id, "--conversation", conversation]
        rated = answered(capsys, *rate, "--not-helpful", "--correction", "Say more.")
        assert (rated["run_id"], rated["helpful"], rated["correction"]) == (last, False, "Say more.")
        assert run([*rate, "--helpful"]) == 0
        assert "Rated: helpful." in capsys.readouterr().out
        assert len(answered(capsys, *rate, "--history")) == 2, "a rating sends no message"
        assert run(["chat", flow_id, "hi", "--helpful"]) == INVALID
        assert run([*rate, "hi", "--correction", "x"]) == INVALID

    def test_says_when_a_list_is_not_complete(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = published(data_folder, capsys, FLOW)
        monkeypatch.setattr(chat, "MOST_SHOWN", 1)
        conversation = answered(capsys, "chat", flow_id, "hello")["conversation_id"]
        assert run(["chat", flow_id, "--list"]) == 0
        assert "The latest" not in capsys.readouterr().err
        answered(capsys, "chat", flow_id, "again", "--conversation", conversation)
        answered(capsys, "chat", flow_id, "another")
        for command in (["--list"], ["--history", "--conversation", conversation]):
            assert run(["chat", flow_id, *command]) == 0
            assert "The latest 1" in capsys.readouterr().err

    def test_sends_each_line_of_the_input(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = published(data_folder, capsys, FLOW)
        monkeypatch.setattr("sys.stdin", io.StringIO("one\n\ntwo\n"))
        assert run(["chat", flow_id, "--json"]) == 0
        answers = [json.loads(line) for line in capsys.readouterr().out.strip().replace("}\n{", "}\x1e{").split("\x1e")]
        assert [answer["text"] for answer in answers] == ["one", "two"]
        assert len({answer["conversation_id"] for answer in answers}) == 1

    def test_says_that_an_answer_waits_for_an_approval(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        flow_id = published(data_folder, capsys, ASKS)
        assert run(["chat", flow_id, "pay"]) == WAITING

    def test_of_an_unknown_conversation_or_an_unpublished_flow_is_refused(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        flow_id = published(data_folder, capsys, FLOW)
        assert run(["chat", flow_id, "hello", "--conversation", "nobody"]) == NOT_FOUND
        assert run(["chat", flow_id, "--history"]) == INVALID
