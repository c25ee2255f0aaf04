"""`headgate packs`: from a new folder to an installed, upgraded and removed pack."""

import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.sandbox.report import probe
from tests.support.cli import answered
from tests.support.packs import set_version

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="packs are refused where code cannot be isolated")
Capture = pytest.CaptureFixture[str]
FLOW = "name: Uses a pack\nnodes:\n  text: TextInput\n  repeat: AcmeTools\nedges:\n  text.text -> repeat.text\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_new_to_removed(place: Path, capsys: Capture) -> None:
    assert answered(capsys, "packs", "new", "acme-tools") == {"folder": "acme-tools"}
    assert answered(capsys, "packs", "test", "acme-tools") == {"cases": 2, "failures": []}
    key = answered(capsys, "packs", "key", "acme.key")
    built = answered(capsys, "packs", "build", "acme-tools", "--key", "acme.key", "--wheel")
    assert (built["file"], built["key_id"]) == ("acme_tools-0.1.0-py3-none-any.whl", key["key_id"])
    inspected = answered(capsys, "packs", "inspect", built["file"])
    assert (inspected["signer"]["key_id"], inspected["reach"]["hosts"]) == (key["key_id"], [])
    refused = answered(capsys, "packs", "install", built["file"], code=5)
    assert (refused["code"], refused["key_id"]) == ("pack_not_trusted", key["key_id"])
    answered(capsys, "packs", "trust", key["public_key"], "--name", "Acme")
    assert answered(capsys, "packs", "install", built["file"])["signer"]["name"] == "Acme"
    assert "acme-tools.service" in {kind["id"] for kind in answered(capsys, "connections", "kinds")}
    assert "acme-tools-first" in {template["id"] for template in answered(capsys, "templates", "list")}
    (place / "uses.flow").write_text(FLOW)
    flow = answered(capsys, "import", "uses.flow")["id"]

    set_version(place / "acme-tools", "0.2.0")
    code = place / "acme-tools/components/acme_tools.py"
    code.write_text(code.read_text().replace("Repeats a text.", "Repeats any text."))
    newer = answered(capsys, "packs", "build", "acme-tools", "--key", "acme.key")["file"]
    assert newer == "acme-tools-0.2.0.hgpack"
    rehearsed = answered(capsys, "packs", "upgrade", newer, "--dry-run")
    assert [(each["flow"], each["problems"]) for each in rehearsed["flows"]] == [("Uses a pack", [])]
    assert answered(capsys, "packs", "list")[0]["version"] == "0.1.0"
    answered(capsys, "packs", "upgrade", newer)
    (pack,) = answered(capsys, "packs", "list")
    assert (pack["version"], pack["flows"][0]["outdated"]) == ("0.2.0", True)
    assert answered(capsys, "packs", "update", flow) == {"flow_id": flow, "revision": 2}
    assert answered(capsys, "packs", "list")[0]["flows"][0]["outdated"] is False

    assert answered(capsys, "packs", "remove", "acme-tools", code=6)["code"] == "pack_in_use"
    answered(capsys, "flows", "delete", flow, "--yes")
    answered(capsys, "packs", "remove", "acme-tools")
    assert answered(capsys, "packs", "list") == []
    assert [signer["name"] for signer in answered(capsys, "packs", "signers")] == ["Acme"]
    answered(capsys, "packs", "distrust", key["key_id"])
    assert answered(capsys, "packs", "signers") == []


def test_a_failing_case_and_an_untested_component_are_named(place: Path, capsys: Capture) -> None:
    answered(capsys, "packs", "new", "acme-tools")
    cases = [{"component": "AcmeTools", "values": {"text": "a"}, "outputs": {"repeated": "b"}}]
    (place / "acme-tools/tests/cases.json").write_text(json.dumps(cases))
    failed = answered(capsys, "packs", "test", "acme-tools", code=3)
    assert failed["code"] == "pack_tests_failed"
    assert "'repeated' should be 'b' and is 'a a'" in failed["detail"]
    (place / "acme-tools/tests/cases.json").write_text("[]")
    assert "AcmeTools has no test" in answered(capsys, "packs", "test", "acme-tools", code=3)["detail"]


def test_lines_for_people(place: Path, capsys: Capture) -> None:
    assert run(["packs", "list"]) == 0
    assert "No packs are installed" in capsys.readouterr().out
    assert run(["packs", "new", "acme-tools"]) == 0
    assert run(["packs", "build", "acme-tools"]) == 0
    assert "not signed" in capsys.readouterr().out
    assert run(["packs", "inspect", "acme-tools-0.1.0.hgpack"]) == 0
    assert "Not signed." in capsys.readouterr().out
    assert run(["packs", "install", "acme-tools-0.1.0.hgpack", "--allow-unsigned"]) == 0
    assert "Hosts: none, no network access" in capsys.readouterr().out
    assert run(["packs", "list"]) == 0
    assert "not signed" in capsys.readouterr().out
