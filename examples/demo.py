"""The main job, as a newcomer sees it: `make demo`.

Everything goes through the public command line and the HTTP API, with the offline builder: no key, no network. The
input is real: the metadata of every Python package that is installed here. Nothing in Headgate knows this sentence.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

REQUEST = "list the installed packages and count them per licence and save as licences.md"
EDIT = "wait 2 seconds before saving the file"
HEADGATE = str(Path(sys.executable).with_name("headgate"))
FOLDER = Path(os.environ.get("HEADGATE_DATA_DIR") or tempfile.mkdtemp(prefix="headgate-demo-"))
ENVIRONMENT = os.environ | {"HEADGATE_DATA_DIR": str(FOLDER), "HEADGATE_LOG__LEVEL": "error"}


def main() -> None:
    """Ask, run, look at the result and the evidence; then kill the server in the middle of a run and start it again."""
    began = time.perf_counter()
    _say("1. One sentence becomes a flow, and the flow runs")
    print(f'   headgate ask "{REQUEST}" --run\n', flush=True)
    _headgate("ask", REQUEST, "--run", "--model", "offline")

    _say("2. The result is a file you can use, and the run left evidence")
    server = _Server()
    flow = server.get("/api/v1/flows")["items"][0]
    _show_result(server, server.get(f"/api/v1/flow-runs?flow_id={flow['id']}")["items"][0]["id"])

    _say("3. The flow is edited in words, then the server is killed in the middle of a second run")
    print(f'   headgate ask "{EDIT}" --flow {flow["id"]}\n', flush=True)
    _headgate("ask", EDIT, "--flow", flow["id"], "--model", "offline")
    _survive_a_kill(server, flow["id"])
    print(f"\nAll of it took {time.perf_counter() - began:.1f} s. Data folder: {FOLDER}")


def _show_result(server: "_Server", run_id: str) -> None:
    evidence = server.get(f"/api/v1/flow-runs/{run_id}/evidence")
    kept = FOLDER / "evidence.json"
    kept.write_text(json.dumps(evidence, indent=2), encoding="utf-8")
    table = next(step for step in evidence["step_results"] if step["step_id"] == "packages")["output"]["outputs"]
    size = table["table"]["value"]["columns"].index("size_bytes")
    read = sum(row[size] for row in table["table"]["value"]["rows"])
    artifact = next(
        one for one in server.get(f"/api/v1/files?flow_run_id={run_id}")["items"] if one["name"].endswith(".md")
    )
    report = FOLDER / artifact["name"]
    report.write_bytes(server.download(f"/api/v1/artifacts/{artifact['id']}"))
    print(f"   read:     {read / 1024:,.0f} KB of metadata and licence texts of installed packages")
    print(f"   report:   {report}")
    print(f"   evidence: {kept}  (definition, inputs, outputs, attempts of run {run_id})\n")
    print("\n".join(f"   | {line}" for line in report.read_text(encoding="utf-8").splitlines()[:12]))


def _survive_a_kill(server: "_Server", flow_id: str) -> None:
    run_id = server.post(f"/api/v1/flows/{flow_id}/runs", {})["id"]
    before = _wait_for(server, run_id, lambda run: any(_is_waiting(step) for step in run["steps"]))
    done = {step["step_id"]: step["attempts"] for step in before["steps"] if step["status"] == "completed"}
    server.kill()
    print(f"   killed the server (SIGKILL) while 'Wait' was working; finished were: {', '.join(done)}")
    server = _Server()
    after = _wait_for(server, run_id, lambda run: run["status"] not in {"queued", "running"})
    server.stop()
    print(f"   started it again: the run {after['status']}\n")
    print(f"   {'step':<32} {'status':<11} attempts")
    for step in after["steps"]:
        note = "finished before the kill, not repeated" if step["step_id"] in done else ""
        print(f"   {step['step_id']:<32} {step['status']:<11} {step['attempts']}   {note}")
    repeated = [step["step_id"] for step in after["steps"] if step["attempts"] > done.get(step["step_id"], 9)]
    if after["status"] != "completed" or repeated:
        raise SystemExit(f"FAILED: the run {after['status']}; repeated: {repeated}")


def _is_waiting(step: dict[str, Any]) -> bool:
    return (step["type"], step["status"]) == ("Wait", "running")


class _Server:
    """A `headgate serve` of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [HEADGATE, "serve", "--port", "0", "--json"], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit("FAILED: the server did not start")
        self.url = json.loads(line)["url"]
        for _ in range(200):
            try:
                self.get("/health")
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise SystemExit("FAILED: the server did not answer")

    def get(self, path: str) -> Any:
        """The JSON at an address."""
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def download(self, path: str) -> bytes:
        """The bytes at an address."""
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            found: bytes = answer.read()
            return found

    def post(self, path: str, body: object) -> Any:
        """What a POST answers."""
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def kill(self) -> None:
        """End it the hard way."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it the polite way."""
        self._process.terminate()
        self._process.wait(timeout=20)


def _wait_for(server: _Server, run_id: str, good: Any) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run = server.get(f"/api/v1/flow-runs/{run_id}")
        if good(run):
            return run
        time.sleep(0.05)
    raise SystemExit(f"FAILED: run {run_id} did not get there in a minute: {run}")


def _headgate(*arguments: str) -> None:
    done = subprocess.run([HEADGATE, *arguments], env=ENVIRONMENT, check=False)
    if done.returncode:
        raise SystemExit(f"FAILED: headgate {arguments[0]} ended with {done.returncode}")


def _say(title: str) -> None:
    print(f"\n\033[1m{title}\033[0m\n" if sys.stdout.isatty() else f"\n{title}\n", flush=True)


if __name__ == "__main__":
    main()
