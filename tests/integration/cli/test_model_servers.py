"""`headgate models servers`, `roles`, `describe`: called as a terminal calls them, on a real data folder."""

import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.cli import answered
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import json_reply


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)


class TestServers:
    def test_one_is_added_tested_chosen_described_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        with OpenAIServer() as server:
            server.model_list = json_reply({"data": [{"id": "qwen3"}]})
            server.script(server.text("OK"))
            answered(capsys, "models", "servers", "add", "vllm", server.base_url, "--key", "sk-secret-1")
            assert run(["models", "servers", "test", "vllm", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["models"] == ["qwen3"]
            answered(capsys, "models", "roles", "set", "assistant", "vllm/qwen3", "--param", "timeout_seconds=300")
            assert run(["models", "roles", "list", "--json"]) == 0
            roles = {one["role"]: one for one in json.loads(capsys.readouterr().out)}
            assert (roles["assistant"]["model"], roles["assistant"]["params"]) == (
                "vllm/qwen3",
                {"timeout_seconds": 300},
            )
            answered(capsys, "models", "describe", "vllm/qwen3", "--price-in", "1.5")
            assert run(["models", "list", "vllm", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)[0]["price_in"] == 1.5
            answered(capsys, "models", "servers", "remove", "vllm")
            assert run(["models", "servers", "list", "--json"]) == 0
            assert json.loads(capsys.readouterr().out) == []

    def test_one_that_does_not_answer_ends_with_a_code(self, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "models", "servers", "add", "studio", "http://127.0.0.1:9/v1")
        assert run(["models", "servers", "test", "studio"]) == 5
        assert "Start it" in capsys.readouterr().out
