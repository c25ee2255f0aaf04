"""The offline builder: one tool call after another, then the closing words."""

import re
from typing import Any

import orjson

from headgate.agents.assistant.offline.builder import Closing, OfflineBuilder
from headgate.agents.assistant.offline.conclusion import conclude, corrected, outcome_of
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from tests.unit.agents.assistant.offline.corpus import REGISTRY

REQUEST = "count the words of my text and save the count as n.txt"
RUN = REQUEST + ", and run it with the text 'a b c'"


async def turn(request: str, *answers: dict[str, Any]) -> tuple[list[Action], Closing]:
    """The builder's calls, answered one after the other, and its closing words."""
    work = await OfflineBuilder(catalog=REGISTRY, current_flow=Flow).begin(request)
    actions: list[Action] = []
    for answer in answers:
        action = work.next()
        assert isinstance(action, Action)
        actions.append(action)
        work.take(action, orjson.dumps(answer).decode())
    closing = work.next()
    assert isinstance(closing, Closing)
    return actions, closing


class TestOfflineBuilder:
    async def test_calls_the_tool_and_then_tells(self) -> None:
        actions, closing = await turn(REQUEST, {"ok": True, "nodes": 3, "edges": 2, "issues": []})
        assert [action.tool for action in actions] == ["build_flow"]
        assert "3 steps" in closing.text
        assert not closing.declined

    async def test_counts_the_steps_in_the_language_of_the_request(self) -> None:
        _, closing = await turn("gör om texten till versaler", {"ok": True, "nodes": 3, "edges": 2, "issues": []})
        assert "3 steg: " in closing.text
        assert "steps" not in closing.text

    async def test_marks_a_name_that_it_cuts_and_says_no_word_twice(self) -> None:
        request = "Keep the rows of the CSV I upload where amount is over 100 and save them as large.csv"
        (build,), _ = await turn(request, {"ok": True, "nodes": 4, "edges": 3, "issues": []})
        assert "Keep the rows of the CSV I upload where amount is over 100…" in str(build.arguments)
        assert "Keep only the rows where amount is over 100" in str(build.arguments)

    async def test_gives_each_step_a_label_of_its_own(self) -> None:
        (build,), _ = await turn(REQUEST, {"ok": True, "nodes": 6, "edges": 5, "issues": []})
        labels = re.findall(r"^    label: (.+)$", str(build.arguments["spec"]), re.MULTILINE)
        assert len(set(labels)) == len(labels) == 6

    async def test_says_who_it_is(self) -> None:
        _, closing = await turn("what is the weather like tomorrow")
        assert "offline builder" in closing.text.lower()
        assert closing.declined

    async def test_tells_the_outputs_of_the_run_and_no_others(self) -> None:
        built = {"ok": True, "nodes": 3, "edges": 2, "issues": []}
        ran = {"ok": True, "status": "completed", "run_id": "r1", "outputs": {"show": "forty-two"}, "duration_ms": 5}
        (*_, run), closing = await turn(RUN, built, ran)
        assert run.arguments["text"] == "a b c"
        assert "completed" in closing.text
        assert "forty-two" in closing.text

    async def test_tells_an_error_as_it_is(self) -> None:
        _, closing = await turn(REQUEST, {"ok": False, "error": "The disk is full.", "remedy": "Free some space."})
        assert "The disk is full. Free some space." in closing.text
        assert "Built" not in closing.text
        assert closing.declined

    async def test_tries_once_more_with_the_name_an_error_gives(self) -> None:
        wrong = {"ok": False, "error": "There is no component 'SaveFile'. Did you mean 'SaveIt'?"}
        (_, again), _ = await turn(REQUEST, wrong, wrong)
        assert "SaveIt" in str(again.arguments)

    async def test_tells_its_words_in_pieces(self) -> None:
        _, closing = await turn("what is the weather like tomorrow")
        pieces = list(closing.pieces())
        assert len(pieces) > 3
        assert "".join(pieces) == closing.text


class TestOutcome:
    def test_takes_what_is_no_json_for_an_error(self) -> None:
        outcome = outcome_of(Action("build_flow"), "Traceback: boom")
        assert (outcome.ok, "boom" in outcome.trouble) == (False, True)

    def test_is_not_corrected_without_a_nearest_name(self) -> None:
        action = Action("remove_component", {"node_id": "x"})
        assert corrected(action, outcome_of(action, '{"ok": false, "error": "No \'x\' here."}')) is None

    def test_of_a_run_that_did_not_start_is_told(self) -> None:
        action = Action("run_flow")
        failed = outcome_of(action, '{"ok": false, "error": "Nothing to run."}')
        told = conclude(Understanding("run_flow", "", (action,)), [failed])
        assert "did not start" in told
        assert "Nothing to run." in told
