"""Deliveries from the command line: a real receiver, the whole application, nothing replaced."""

import io
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
FLOW = """name: Tell
nodes:
  heard: ChatInput
  note: PromptTemplate
    template: "{{\\"said\\": \\"{{heard}}\\"}}"
    policy:
      output_mode: http_post
      output_type: json
      output_config:
        url: {url}
edges:
  heard.text -> note.heard
"""


class Receiver(BaseHTTPRequestHandler):
    """Answers as its server says and keeps what came."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.came.append((body, {name.lower(): value for name, value in self.headers.items()}))  # type: ignore[attr-defined]
        self.send_response(self.server.answer)  # type: ignore[attr-defined]
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def receiver() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.came, server.answer = [], 200  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", '["127.0.0.1/32"]')
    monkeypatch.chdir(tmp_path)


def started(capsys: pytest.CaptureFixture[str], receiver: Any, code: int = exit_codes.OK) -> str:
    """A run that delivers to the receiver; its id."""
    path = Path("tell.flow")
    path.write_text(FLOW.format(url=f"http://127.0.0.1:{receiver.server_port}/in"))
    outcome = answered(capsys, "run", str(path), "--text", "hej", code=code)
    assert outcome["undelivered"] == ([] if code == exit_codes.OK else ["note"])
    return str(outcome["run_id"])


class TestDeliveries:
    def test_are_made_by_a_command_that_runs_a_flow(
        self, capsys: pytest.CaptureFixture[str], receiver: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(SECRET + "\n"))
        assert run(["variables", "set", "WEBHOOK_SECRET"]) == 0
        run_id = started(capsys, receiver)
        ((body, headers),) = receiver.came
        assert Webhook(SECRET).verify(body, headers) == {"said": "hej"}
        (made,) = answered(capsys, "runs", "deliveries", run_id)
        assert (made["status"], made["last_status"], len(made["attempts"])) == ("delivered", 200, 1)
        assert run(["runs", "deliveries", run_id]) == 0
        assert "delivered" in capsys.readouterr().out

    def test_are_sent_again_without_running_anything(self, capsys: pytest.CaptureFixture[str], receiver: Any) -> None:
        receiver.answer = 403
        run_id = started(capsys, receiver, exit_codes.FAILED)
        assert answered(capsys, "runs", "show", run_id)["status"] == "completed"
        (again,) = answered(capsys, "runs", "redeliver", run_id, code=exit_codes.FAILED)
        assert again["webhook_error"]["code"] == "delivery_refused"
        receiver.answer = 204
        (again,) = answered(capsys, "runs", "redeliver", run_id)
        assert (again["status"], len(again["attempts"])) == ("delivered", 3)
        assert answered(capsys, "runs", "redeliver", run_id) == []
        assert len(answered(capsys, "runs", "redeliver", run_id, "--step", "note")) == 1
        assert len({headers["idempotency-key"] for _, headers in receiver.came}) == 1
        assert [step["attempts"] for step in answered(capsys, "runs", "show", run_id)["steps"]] == [1, 1]

    def test_that_are_still_tried_are_no_success(self, capsys: pytest.CaptureFixture[str], receiver: Any) -> None:
        receiver.answer = 503
        started(capsys, receiver, exit_codes.WAITING)

    def test_of_an_unknown_run_or_step_are_not_found(self, capsys: pytest.CaptureFixture[str], receiver: Any) -> None:
        run_id = started(capsys, receiver)
        assert run(["runs", "redeliver", run_id, "--step", "nothing"]) == exit_codes.NOT_FOUND
        assert run(["runs", "deliveries", "nothing"]) == exit_codes.NOT_FOUND
