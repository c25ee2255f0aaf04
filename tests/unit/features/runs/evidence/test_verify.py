"""Whatever is changed in a package is found, and named."""

import copy
import hashlib
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.runs.evidence.archive import as_json, as_zip
from headgate.features.runs.evidence.chain import chained, head_of
from headgate.features.runs.evidence.verify import NotEvidence, verify
from headgate.foundation.canonical import canonical
from headgate.foundation.errors import Invalid
from headgate.foundation.signing import Signer, key_of, read_public_key
from tests.support.evidence import CONTENT, FILE_ID, SEED, package_of
from tests.support.properties import cases
from tests.support.report_all import report_all

PACKAGE = package_of()
CONTENTS = {hashlib.sha256(CONTENT).hexdigest(): CONTENT}
FILES = {
    "json": as_json(PACKAGE),
    "json with contents": as_json(PACKAGE, CONTENTS),
    "zip": as_zip(PACKAGE, CONTENTS),
}
KEY = Signer(SEED).key


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [] if isinstance(value, dict | list) and value else [path]
    return found + [one for key, item in items for one in places(item, (*path, key))]


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case str():
            return value + "x" if value else "x"
        case int() | float():
            return value + 1
        case None:
            return "x"
        case list():
            return ["x"]
        case _:
            return {"x": 1}


def with_changed(path: tuple[Any, ...]) -> dict[str, Any]:
    """The package with one value changed."""
    found = copy.deepcopy(PACKAGE)
    at: Any = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = changed(at[path[-1]])
    return found


def faults(package: dict[str, Any]) -> list[str]:
    return [str(fault) for fault in verify(canonical(package)).faults]


class TestUntouched:
    @pytest.mark.parametrize("form", FILES)
    def test_package_verifies(self, form: str) -> None:
        verdict = verify(FILES[form], KEY)
        assert verdict.good, verdict.faults
        assert (verdict.steps, verdict.status, verdict.key_id) == (2, "completed", KEY.key_id)
        assert verdict.artifacts_checked == int(form != "json")
        assert bool(verdict.notes) == (form == "json")

    def test_package_is_made_the_same_again(self) -> None:
        assert as_json(package_of()) == FILES["json"]
        assert as_zip(package_of(), CONTENTS) == FILES["zip"]

    def test_package_is_made_the_same_by_another_process(self) -> None:
        code = (
            "import sys; from tests.support.evidence import package_of;"
            "from headgate.features.runs.evidence.archive import as_json;"
            "sys.stdout.buffer.write(as_json(package_of()))"
        )
        other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        assert other.stdout == FILES["json"]

    def test_package_is_checked_without_the_rest_of_headgate(self) -> None:
        code = (
            "import sys; from headgate.features.runs.evidence.verify import verify;"
            "heavy = {'sqlalchemy', 'fastapi', 'langchain_core', 'langchain'} & set(sys.modules);"
            "assert not heavy, heavy;"
            "assert verify(sys.stdin.buffer.read()).good"
        )
        subprocess.run([sys.executable, "-c", code], check=True, input=FILES["zip"])


class TestChange:
    def test_of_any_value_is_found(self) -> None:
        with report_all() as item:
            for path in places(PACKAGE):
                with item(path):
                    assert faults(with_changed(path))

    @cases(400)
    @given(form=st.sampled_from(sorted(FILES)), at=st.floats(0, 1, exclude_max=True), by=st.integers(1, 255))
    def test_of_any_byte_is_found(self, form: str, at: float, by: int) -> None:
        whole = bytearray(FILES[form])
        place = int(at * len(whole))
        whole[place] = (whole[place] + by) % 256
        try:
            verdict = verify(bytes(whole), KEY)
        except NotEvidence:
            return
        assert not verdict.good

    @cases(60)
    @given(form=st.sampled_from(sorted(FILES)), at=st.floats(0, 1, exclude_max=True), more=st.binary(min_size=1))
    def test_that_adds_or_cuts_bytes_is_found(self, form: str, at: float, more: bytes) -> None:
        whole = FILES[form]
        place = int(at * len(whole))
        for made in (whole[:place], whole[:place] + more + whole[place:]):
            try:
                assert not verify(made, KEY).good
            except NotEvidence:
                continue

    def test_names_the_step_and_its_member(self) -> None:
        assert faults(with_changed(("step_results", 0, "effective_prompt"))) == [
            "step 'a': 'effective_prompt' was changed."
        ]
        assert faults(with_changed(("run", "status"))) == ["run: 'status' was changed."]

    def test_of_the_definition_is_named(self) -> None:
        found = faults(with_changed(("definition_snapshot", "name")))
        assert found == ["definition_snapshot: it does not match the run's entry."]

    def test_of_a_value_and_its_digest_breaks_the_link(self) -> None:
        package = with_changed(("step_results", 0, "status"))
        step = package["step_results"][0]
        step["chain"]["digests"]["status"] = hashlib.sha256(canonical(step["status"])).hexdigest()
        assert faults(package) == ["step 'a': its hash does not match its digests: one of them was changed."]

    def test_of_everything_but_the_seal_breaks_the_seal(self) -> None:
        package = copy.deepcopy(PACKAGE)
        plain = [{key: value for key, value in one.items() if key != "chain"} for one in package["step_results"]]
        plain[1]["output"] = {"text": "forged"}
        run = {key: value for key, value in package["run"].items() if key != "chain"}
        package["run"], *package["step_results"] = chained([run, *plain])
        assert faults(package) == ["seal: 'head' does not match the chain and key."]
        package["seal"]["head"] = head_of([package["run"], *package["step_results"]])
        assert faults(package) == [f"seal: its signature does not match key {KEY.key_id} and this chain."]

    @pytest.mark.parametrize("change", ["removed", "added twice", "swapped", "cut off"])
    def test_of_the_steps_is_found(self, change: str) -> None:
        package = copy.deepcopy(PACKAGE)
        first, second = package["step_results"]
        package["step_results"] = {
            "removed": [second],
            "added twice": [first, first, second],
            "swapped": [second, first],
            "cut off": [first],
        }[change]
        assert faults(package)

    def test_of_an_artifact_is_named(self) -> None:
        forged = as_zip(PACKAGE, dict.fromkeys(CONTENTS, b"forged"))
        assert [str(one) for one in verify(forged).faults] == [
            f"artifact {FILE_ID}: its content was changed: its SHA-256 differs."
        ]

    def test_that_leaves_an_artifact_out_is_named(self) -> None:
        found = [str(one) for one in verify(as_zip(PACKAGE, {})).faults]
        assert found == [f"artifact {FILE_ID}: its content is not in the file."]

    def test_that_adds_a_content_is_named(self) -> None:
        stranger = {hashlib.sha256(b"x").hexdigest(): b"x"}
        assert "which no step refers to" in str(verify(as_zip(PACKAGE, CONTENTS | stranger)).faults[0])

    def test_of_the_form_only_is_found(self) -> None:
        pretty = json.dumps(PACKAGE, indent=2).encode()
        assert [fault.where for fault in verify(pretty).faults] == ["file"]


class TestKey:
    def test_of_another_installation_does_not_pass(self) -> None:
        other = package_of(seed=hashlib.sha256(b"another").digest())
        assert verify(canonical(other)).good
        found = [str(one) for one in verify(canonical(other), KEY).faults]
        assert found == [f"seal: it is signed by {other['seal']['key_id']}, not by key {KEY.key_id}."]

    def test_is_read_as_it_is_printed(self) -> None:
        assert read_public_key(f" {KEY.public_key}\n") == KEY

    @pytest.mark.parametrize("text", ["", "abc", "AAAA", "ä" * 44])
    def test_that_is_none_is_refused(self, text: str) -> None:
        with pytest.raises(Invalid, match="public key of 32 bytes"):
            read_public_key(text)

    def test_of_no_point_on_the_curve_is_no_seal(self) -> None:
        package = copy.deepcopy(PACKAGE)
        broken = key_of(b"\xff" * 32)
        package["seal"] |= {"public_key": broken.public_key, "key_id": broken.key_id}
        assert faults(package)


class TestStranger:
    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"[]",
            b"{}",
            b"null",
            b'{"run": NaN}',
            b'{"run": 1, "run": 2}',
            b"PK\x03\x04 and no zip",
            b"\xff\xfe",
            b'{"run":' + b"[" * 100_000,
            b'{"run": 12345678901234567890123}',
        ],
    )
    def test_is_refused_as_such(self, content: bytes) -> None:
        with pytest.raises(NotEvidence):
            verify(content)

    @pytest.mark.parametrize("member", ["run", "step_results", "seal", "definition_snapshot", "format"])
    @pytest.mark.parametrize("value", [None, [], {}, "x", 1, [1], [{}], {"chain": 1}, {"chain": {"digests": []}}])
    def test_in_place_of_a_part_is_a_fault(self, member: str, value: Any) -> None:
        assert faults(PACKAGE | {member: value})
