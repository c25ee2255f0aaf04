from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.graph.context import build_context, step_entry
from headgate.graph.interpolate import interpolate
from headgate.graph.plan import compile_plan
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.wires import flow, node

FLOW = flow(
    node("page", "URL", url="https://x"),
    node("links", "SelectData", expression="[0]"),
    node("brief", "AIStep", prompt="p", model="a/b"),
    edges="page.text -> brief.input\npage.links -> links.data",
)
PLAN = compile_plan(FLOW, PALETTE)
RESULTS: dict[str, dict[str, JsonValue]] = {
    "page": {"text": "hello", "title": "T"},
    "links": {"data": ["l"]},
    "brief": {"output": "b"},
}


@dataclass
class Given:
    text: str = "free"
    form_data: Mapping[str, JsonValue] = field(default_factory=dict)


class TestBuildContext:
    def test_resolves_ids_aliases_main_and_named_outputs(self) -> None:
        context = build_context(Given(form_data={"namn": "Anna"}), RESULTS, PLAN)
        text = (
            "{{page.output}} {{step_1.output}} {{page.title}} {{flow_input.text}} {{flow_input.namn}} {{brief.output}}"
        )
        assert interpolate(text, context) == "hello hello T free Anna b"

    def test_shows_a_step_only_what_comes_before_it(self) -> None:
        context = build_context(Given(), RESULTS, PLAN, "brief")
        assert set(context) == {"flow_input", "page", "step_1"}

    def test_has_no_entry_for_a_step_that_was_skipped(self) -> None:
        context = build_context(Given(), {"page": RESULTS["page"]}, PLAN)
        assert interpolate("{{links.output}}", context) == "{{links.output}}"

    def test_prefers_a_node_id_to_a_like_named_alias(self) -> None:
        made = flow(node("step_2", "TextInput"), node("b", "CombineText"), edges="step_2.text -> b.parts")
        plan = compile_plan(made, PALETTE)
        context = build_context(Given(), {"step_2": {"text": "one"}, "b": {"text": "two"}}, plan)
        assert interpolate("{{step_1.output}} {{step_2.output}}", context) == "one one"

    def test_lets_a_form_field_called_text_win_over_the_free_text(self) -> None:
        context = build_context(Given(form_data={"text": "from the form"}), {}, PLAN)
        assert interpolate("{{flow_input.text}}", context) == "from the form"


class TestStepEntry:
    def test_calls_the_main_output_output_too(self) -> None:
        assert step_entry({"text": "a", "output": "other"}, "text") == {"text": "a", "output": "a", "file_ids": ""}
        assert step_entry({"x": 1}, None) == {"x": 1, "file_ids": ""}

    def test_names_the_files_that_a_step_gave(self) -> None:
        one: JsonValue = {"id": "f1", "name": "a.pdf", "media_type": "application/pdf", "size": 1}
        two: JsonValue = {"id": "f2", "name": "b.png", "media_type": "image/png", "size": 1}
        said: JsonValue = {"role": "user", "text": "see", "files": [two]}
        assert step_entry({"file": one, "files": [one, two], "message": said}, "file")["file_ids"] == "f1,f2"
        assert step_entry({"file_ids": "its own"}, "file_ids")["file_ids"] == "its own"
        assert step_entry({"data": {"id": "x"}, "rows": [1, "a", None]}, None)["file_ids"] == ""
