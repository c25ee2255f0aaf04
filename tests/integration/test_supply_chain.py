"""The wheel is the same wherever and whenever it is built; bills of materials and the audit hold what is locked."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from scripts import audit

TOP = Path(__file__).parents[2]
UV = subprocess.run([TOP / "scripts" / "ensure-uv"], capture_output=True, text=True, check=True, cwd=TOP).stdout.strip()
PARTS = ("pyproject.toml", "README.md", "LICENSE", "scripts/hatch_build.py", "src")
PAGE = "src/headgate/entrypoints/http/studio/built/index.html"


def build(folder: Path, *, at: int) -> Path:
    """The wheel of a copy of this tree in a folder of its own, whose files have other times and modes."""
    for part in PARTS:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (TOP / part).is_dir():
            shutil.copytree(TOP / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(TOP / part, folder / part)
    if not (folder / PAGE).exists():
        (folder / PAGE).parent.mkdir(parents=True, exist_ok=True)
        (folder / PAGE).write_text("<!doctype html>")
    for path in folder.rglob("*"):
        os.utime(path, (at, at))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "made")]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1790000000", "PYTHONHASHSEED": str(at % 1000)}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=200)
    (wheel,) = (folder / "made").iterdir()
    return wheel


class TestWheel:
    def test_is_the_same_byte_for_byte(self, tmp_path: Path) -> None:
        first, second = build(tmp_path / "a", at=1_600_000_000), build(tmp_path / "elsewhere" / "b", at=1_700_000_001)
        assert first.name == second.name
        assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()


class TestBillOfMaterials:
    def test_of_python_holds_every_locked_package_with_its_digests(self) -> None:
        command = [UV, "export", "--locked", "--quiet", "--all-extras", "--all-groups", "--format", "cyclonedx1.5"]
        bill = json.loads(subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout)
        assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "headgate")
        named = {f"{one['name']}=={one['version']}" for one in bill["components"]}
        assert named - {"headgate==0.1.0"} == set(audit.python_packages(TOP / "uv.lock"))
        assert all(each["hashes"] for one in bill["components"] for each in one.get("externalReferences", []))


class Osv(BaseHTTPRequestHandler):
    """An advisory service that knows one vulnerable package."""

    known: ClassVar[str] = "pyyaml"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        found = {"vulns": [{"id": "GHSA-test", "modified": "2026-01-01T00:00:00Z"}]}
        self._send({"results": [found if one["package"]["name"] == self.known else {} for one in asked]})

    def do_GET(self) -> None:
        self._send({"id": "GHSA-test", "modified": "2026-01-01T00:00:00Z", "summary": "Runs code", "affected": []})

    def _send(self, said: Any) -> None:
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Osv)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


NPM = {
    "vulnerabilities": {
        "vite": {"via": [{"url": "GHSA-page", "title": "Reads files"}]},
        "other": {"via": ["vite"]},
    }
}


class TestAudit:
    def test_reports_what_the_services_know_and_compares_with_it_when_they_are_gone(
        self, tmp_path: Path, service: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kept = tmp_path / "advisories.json"
        (tmp_path / "said").write_text(json.dumps(NPM))
        uv = program(tmp_path / "uv", f'exec "{TOP / UV}" "$@" --service-url {service}')
        npm = program(tmp_path / "npm", f"cat {tmp_path / 'said'}")
        assert audit.main(["--uv", uv, "--npm", npm, "--kept", str(kept)]) == audit.VULNERABLE
        said = capsys.readouterr().out
        assert "pyyaml" in said
        assert "GHSA-test Runs code" in said
        assert "vite" in said
        assert audit.load(kept)["python"].audited == audit.python_packages(TOP / "uv.lock")

        gone = program(tmp_path / "gone", "exit 2")
        assert audit.main(["--uv", gone, "--npm", gone, "--kept", str(kept)]) == audit.VULNERABLE
        said = capsys.readouterr().out
        assert "compared with the answer of 20" in said
        assert "GHSA-test Runs code" in said

    def test_says_what_it_could_not_check(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        gone = program(tmp_path / "gone", "echo '{\"error\": {}}'")
        wanted = ["--uv", gone, "--npm", gone, "--kept", str(tmp_path / "none.json")]
        assert audit.main(wanted) == audit.UNCHECKED
        assert capsys.readouterr().out.count("not checked") == 2
        assert audit.main([*wanted, "--allow-unchecked"]) == audit.CLEAN

    def test_knows_nothing_of_versions_that_came_later(self) -> None:
        kept = audit.Answer("2026-01-01", ["a==1"], [audit.Advisory("a", "1", "X", "bad")])
        assert audit.outcome(["a==1"], None, kept)[0] == audit.VULNERABLE
        assert audit.outcome(["a==2"], None, kept)[0] == audit.UNCHECKED
        assert audit.outcome(["a==1"], [], kept)[0] == audit.CLEAN
