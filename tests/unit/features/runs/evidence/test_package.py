"""What a package holds, and what it never does."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.runs.evidence.archive import artifacts_of, as_json
from headgate.features.runs.evidence.verify import verify
from headgate.foundation.canonical import canonical, digest, portable
from tests.support.evidence import FILE_ID, make_record, make_step, package_of

PRIVATE: list[dict[str, Any]] = [{"id": "pnr", "private": True}, {"id": "city"}]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class TestPackage:
    def test_lists_steps_as_they_finished(self) -> None:
        late, early, never = make_step("a", 1, finished_at=900), make_step("b", 2, finished_at=100), make_step("c", 3)
        never.finished_at = None
        package = package_of(replace(make_record(), steps=[late, early, never]))
        assert [step["step_id"] for step in package["step_results"]] == ["b", "a", "c"]

    def test_breaks_a_tie_by_the_order_of_the_plan(self) -> None:
        steps = [make_step(name, order, finished_at=5) for name, order in (("z", 1), ("y", 2), ("x", 3))]
        one, other = (package_of(replace(make_record(), steps=found)) for found in (steps, steps[::-1]))
        assert as_json(one) == as_json(other)
        assert [step["step_id"] for step in one["step_results"]] == ["z", "y", "x"]

    def test_says_everything_of_a_step(self) -> None:
        first, second = package_of()["step_results"]
        assert first["effective_prompt"] == "Say hello to Ann."
        assert first["tokens"] == {"input": 3, "output": 4}
        assert first["classification"] == 2
        assert first["attempts"][0]["attempt_no"] == 1
        assert first["latency_ms"] == pytest.approx(0.999)
        assert second["deliveries"][0]["attempts"][0]["status_code"] == 200
        assert second["artifacts"][0]["id"] == FILE_ID

    def test_says_what_edges_brought(self) -> None:
        secret, long = "Hunter-22-Hunter", "x" * 5000
        first, second, skipped = make_step("a", 1), make_step("b", 2), make_step("c", 3)
        outputs = {
            "text": {"type": "Text", "value": f"Hello {secret}"},
            "rows": {"type": "Data", "value": long},
            "file": {"type": "Text", "file_id": "f1", "media_type": "text/plain", "size_bytes": 9, "preview": "Hel"},
        }
        first.output_payload, first.input_payload = {"main": "text", "outputs": outputs}, None
        second.input_payload = {"bindings": {"bound": "set"}}
        skipped.started_at = None
        edges = [
            {"source": "a", "output": output, "target": target, "input": field}
            for output, target, field in (
                ("text", "b", "input"),
                ("rows", "b", "rows"),
                ("file", "b", "more"),
                ("text", "b", "bound"),
                ("other", "b", "branch"),
                ("text", "c", "input"),
            )
        ]
        record = replace(make_record(), steps=[first, second, skipped], definition={"edges": edges})
        inputs = {step["step_id"]: step["input"] for step in package_of(record, secrets=(secret,))["step_results"]}
        assert inputs["a"] is None
        assert (inputs["c"] or {}).get("edges") is None
        assert inputs["b"] == {
            "bindings": {"bound": "set"},
            "edges": [
                {"field": "input", "from": "a.text", "type": "Text", "value": "Hello [redacted]"},
                {"field": "rows", "from": "a.rows", "type": "Data", "size_bytes": 5002, "sha256": digest(long)},
                {"field": "more", "from": "a.file", "type": "Text", "file_id": "f1", "media_type": "text/plain",
                 "size_bytes": 9},
            ],
        }  # fmt: skip

    def test_gives_no_hash_of_a_long_value_that_may_follow_from_a_private_answer(self) -> None:
        first, second = make_step("a", 1), make_step("b", 2)
        first.output_payload = {"main": "text", "outputs": {"text": {"type": "Text", "value": "x" * 5000}}}
        edges = [{"source": "a", "output": "text", "target": "b", "input": "input"}]
        made = make_record(form=PRIVATE, pnr="19121212-1212")
        record = replace(made, steps=[first, second], definition={**made.definition, "edges": edges})
        (edge,) = package_of(record)["step_results"][1]["input"]["edges"]
        assert edge["sha256"].keys() == {"withheld", "commitment"}

    def test_says_that_an_artifact_was_removed(self) -> None:
        package = package_of(replace(make_record(), files={}))
        assert package["step_results"][1]["artifacts"] == [{"id": FILE_ID, "removed": True}]
        assert "had already been removed" in verify(as_json(package)).notes[0]

    def test_holds_no_secret(self) -> None:
        record = make_record()
        for step in record.steps:
            step.effective_prompt = "The key is Hunter-22-Hunter."
            step.output_payload = {"outputs": {"text": {"type": "Data", "value": {"Hunter-22-Hunter": 1}}}}
        record.run.error_code, record.run.error_message = "x", "failed with Hunter-22-Hunter"
        text = as_json(package_of(record, secrets=("Hunter-22-Hunter",))).decode()
        assert "Hunter-22" not in text
        assert "sk-very-secret" not in text
        assert "abcdefghijkl" not in text
        assert '"temperature":0.5' in text

    @given(value=JSON)
    def test_of_any_output_verifies(self, value: Any) -> None:
        record = make_record()
        record.steps[0].output_payload = {"outputs": {"data": {"type": "Data", "value": value}}}
        assert verify(as_json(package_of(record))).good


class TestPrivateAnswers:
    def test_are_committed_to_and_not_shown(self) -> None:
        record = make_record(form=PRIVATE, pnr="19121212-1212", city="Lund")
        record.steps[0].effective_prompt = "Who is 19121212-1212 in Lund?"
        package = package_of(record)
        text = as_json(package).decode()
        assert "19121212" not in text
        assert package["run"]["input"]["form_data"]["city"] == "Lund"
        assert package["run"]["input"]["form_data"]["pnr"].keys() == {"withheld", "commitment"}
        assert package["step_results"][0]["effective_prompt"] == "Who is [private: pnr] in Lund?"
        assert verify(text.encode()).good

    def test_give_the_same_commitment_again_and_another_for_another_answer(self) -> None:
        def commitment(answer: str) -> str:
            package = package_of(make_record(form=PRIVATE, pnr=answer))
            found: str = package["run"]["input"]["form_data"]["pnr"]["commitment"]
            return found

        assert commitment("19121212-1212") == commitment("19121212-1212") != commitment("19121212-1213")

    def test_leave_no_hash_that_could_be_tried(self) -> None:
        package = package_of(make_record(form=PRIVATE, pnr="19121212-1212"))
        assert all(step["execution_hash"].keys() == {"withheld", "commitment"} for step in package["step_results"])
        assert artifacts_of(package) == {}

    def test_that_were_not_given_withhold_nothing(self) -> None:
        package = package_of(make_record(form=PRIVATE, city="Lund"))
        assert isinstance(package["step_results"][0]["execution_hash"], str)


class TestPortable:
    @given(value=JSON)
    def test_values_have_one_form_that_reads_back_as_itself(self, value: Any) -> None:
        first = canonical(portable(value))
        assert canonical(json.loads(first)) == first

    @pytest.mark.parametrize("value", [2**53, -(2**60), 1e16, 1e300])
    def test_numbers_beyond_the_safe_range_become_text(self, value: float) -> None:
        assert portable({"n": [value]}) == {"n": [str(int(value))]}

    def test_forms_of_one_number_are_one(self) -> None:
        assert canonical(portable(1.0)) == canonical(portable(1)) == b"1"
        assert portable(1e22) == portable(10**22)
