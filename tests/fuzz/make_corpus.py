"""Writes the samples that the corpus began with: `python -m tests.fuzz.make_corpus`. It leaves what fuzzers found."""

import io
import zipfile
from importlib.resources import files
from pathlib import Path

import orjson
from pydantic import SecretStr

from headgate.features.flows.transfer import export_flow
from headgate.features.runs.evidence.archive import as_json, as_zip, sha256_of
from headgate.graph.spec import parse_spec
from tests.fuzz.targets import CALL, CORPUS, box
from tests.support.evidence import CONTENT, package_of

EXAMPLES = ("Agent", "If", "Map", "MakeDocument", "Python", "TableQuery", "McpTools", "HTTPRequest")
WORDS = {
    "broker": ("id", "host", "port", "seconds", "value", "failure", "exception", "frames", "line", "too_big", "remedy"),
    "evidence": ("format", "run", "seal", "step_results", "chain", "hash", "previous", "contents", "sha256", "key_id",
                 "definition_snapshot", "definition_sha256", "generated_files", "artifacts", "signature", "public_key"),
    "importer": ("headgate", "nodes", "edges", "type", "params", "code", "policy", "form", "settings", "position",
                 "data", "connections", "typeVersion", "inputAnchors", "secret", "{{", "}}"),
    "sealed": ("kind", "widget.file", "at", "visit", "state", "nonce", "verifier", "started_at", "null",
               "NaN", "1e400"),
    "spec": ("nodes:", "edges:", "form:", "settings:", "policy:", "params:", "label:", "code:", "->", "|", "{{", "}}",
             "- "),
    "sse": ("\\x0a", "\\x0d", "data: ", "event: ", "id: ", "\\xe2\\x80\\xa8"),
}  # fmt: skip


def samples() -> dict[str, bytes]:
    """Path below the corpus to content."""
    found: dict[str, bytes] = {}
    for name in EXAMPLES:
        text = (files("headgate.components.examples") / f"{name}.flow").read_text(encoding="utf-8")
        found[f"spec/{name}"] = found[f"importer/{name}"] = text.encode()
        found[f"importer/{name}.json"] = export_flow(parse_spec(text), format="json").encode()
    found["importer/dify"] = b"app:\n  name: x\nkind: app\nversion: 0.1\n"
    found["importer/n8n"] = b'{"nodes":[{"id":"a","typeVersion":1}],"connections":{}}'
    package = package_of()
    contents = {sha256_of(CONTENT): CONTENT}
    found["evidence/signed.json"] = as_json(package)
    found["evidence/signed-whole.json"] = as_json(package, contents)
    found["evidence/signed.zip"] = as_zip(package, contents)
    found["evidence/other.zip"] = _strange_zip()
    found["sealed/token"] = orjson.dumps({"kind": "widget.file", "at": 4_000_000_000, "visit": "v", "id": "x"})
    found["sealed/cookie"] = orjson.dumps({"state": "s", "nonce": "n", "verifier": "v", "next": "/", "started_at": 4e9})
    found["sealed/cursor"] = b"Zmxvdw==.01a1ffac-76f1-7690-a696-27d0cea7011b"
    found["sealed/sealed"] = box().encrypt(SecretStr("{}"))
    found["sse/lines"] = b"a\r\nb\rc\n\ndata: x\n\nid: 4"
    found["sse/id"] = b"12.3.4"
    question = {"id": 1, "host": "api.example.org", "port": 443, "seconds": None}
    found["broker/question"] = orjson.dumps(question)
    found["broker/six"] = orjson.dumps({**question, "host": "::1", "seconds": 1.5})
    found["broker/value"] = orjson.dumps({"id": CALL, "value": {"a": [1, "x", None]}})
    failure = {"exception": "ValueError", "message": "no", "line": 2, "frames": [[1, "run"], [2, "x"]], "remedy": ""}
    found["broker/failure"] = orjson.dumps({"id": CALL, "failure": failure})
    found["broker/big"] = orjson.dumps({"id": CALL, "too_big": 10**9})
    return found


def _strange_zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("evidence.json", "{}")
        archive.writestr("stranger.txt", "x")
    return packed.getvalue()


def main() -> None:
    """Write them."""
    for name, content in samples().items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, words in WORDS.items():
        Path(CORPUS / f"{name}.dict").write_text("".join(f'"{word}"\n' for word in words), encoding="utf-8")


if __name__ == "__main__":
    main()
