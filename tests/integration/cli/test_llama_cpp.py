"""A session against a real llama.cpp server: connected as a model server of one's own, and as the local model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.cli import answered
from tests.support.scripted_weights import TOKEN, Reply, llama_cpp_server, tool_call, write_weights

FLOW = "name: Echo\nnodes:\n  ask: ChatInput\n  out: ChatOutput\nedges:\n  ask.text -> out.input\n"
STEP = """name: Step
nodes:
  ask: ChatInput
  step: AIStep
    prompt: Say something.
    model: {model}
  out: ChatOutput
edges:
  ask.text -> step.input
  step.output -> out.input
"""
REPLIES = (
    Reply("messages[-1].role == 'tool'", "The flow is built."),
    Reply("tools", tool_call("build_flow", spec=FLOW)),
    Reply("'intent' in messages[0].content", '{"translation": "Build an echo flow.", "intent": "build_flow"}'),
    Reply("true", "A river of words."),
)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "scripted.gguf"
    write_weights(path, REPLIES)
    return path


@pytest.fixture(scope="module")
def base_url(weights: Path) -> Iterator[str]:
    with llama_cpp_server(weights) as url:
        yield url


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestServerOfOnesOwn:
    def test_is_connected_builds_a_flow_and_runs_a_step(
        self, base_url: str, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answered(capsys, "models", "servers", "add", "llama", base_url, "--key", TOKEN)
        assert answered(capsys, "models", "servers", "test", "llama")["models"] == ["scripted"]
        answered(capsys, "models", "roles", "set", "default", "llama/scripted")
        built = answered(capsys, "ask", "Build a flow that repeats what I say")["data"]
        assert (built["saved"], built["result"]) == (True, "The flow is built.")
        assert built["usage"]["input_tokens"] > 1000
        definition = answered(capsys, "flows", "show", "Echo")["definition"]
        assert [(edge["source"], edge["target"]) for edge in definition["edges"]] == [("ask", "out")]
        (data_folder / "step.flow").write_text(STEP.format(model="llama/scripted"))
        answered(capsys, "import", "step.flow")
        assert "A river of words." in str(answered(capsys, "run", "Step", "--text", "hi"))

    def test_with_a_wrong_key_is_named_as_such(self, base_url: str, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "models", "servers", "add", "llama", base_url, "--key", "sk-wrong")
        assert run(["models", "servers", "test", "llama", "--json"]) == 5
        assert "rejected the key (401)" in json.loads(capsys.readouterr().out)["detail"]


class TestLocalModel:
    def test_is_put_in_place_and_answers_in_a_step(
        self, weights: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answered(capsys, "models", "use", str(weights), "scripted")
        (data_folder / "step.flow").write_text(STEP.format(model="local/scripted"))
        answered(capsys, "import", "step.flow")
        assert "A river of words." in str(answered(capsys, "run", "Step", "--text", "hi"))
