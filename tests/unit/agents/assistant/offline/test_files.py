"""Requests about files, taking back and components: from words to tools, and from their answers to words."""

from types import ModuleType
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.assistant.offline.conclusion import conclude, outcome_of, succeeded
from headgate.agents.assistant.offline.files.documentation import document, file_name
from headgate.agents.assistant.offline.understand import MOST_WORDS, understand
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.agents.assistant.verification.claims import false_claims
from headgate.agents.assistant.verification.happened import Happened
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.search import component_index
from headgate.graph.flow_io import classify_io
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.template import Template
from headgate.graph.validate import check_runnable
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sdk.hosting import describe
from tests.support.properties import cases
from tests.unit.agents.assistant.offline.corpus import REGISTRY, Entry, base_flow, entries

CORPORA = ("held_out_files", "held_out_files_2")
ROWS = [pytest.param(entry, id=entry["id"]) for name in CORPORA for entry in entries(name)]
PARTS = sorted({word for name in CORPORA for entry in entries(name) for word in entry["request"].split()})
FLOW = Flow(
    name="Two steps",
    description="Says it back.",
    nodes=(Node(id="text", type="TextInput"), Node(id="show", type="ChatOutput")),
    edges=(Edge(source="text", output="text", target="show", input="input"),),
)
SLUGIFY = '''from headgate.sdk import Component, field, output


class Slugify(Component):
    """Makes a slug of a text."""

    text: str = field(main=True)

    @output()
    def slug(self) -> str:
        """The slug."""
        return self.text.lower().replace(" ", "-")
'''


def told(request: str, *answers: str, flow: Flow = FLOW) -> tuple[Understanding, str]:
    """What a request is taken for, and the closing words when its tools answer so."""
    found = understand(request, REGISTRY, flow)
    outcomes = [outcome_of(action, answer) for action, answer in zip(found.actions, answers, strict=False)]
    return found, conclude(found, outcomes)


def with_slugify() -> Overlay:
    """A catalogue with a component of the person's own; its code is the test's, so it is loaded here."""
    module = ModuleType("own")
    exec(compile(SLUGIFY, "own.py", "exec"), module.__dict__)
    template = Template.model_validate(describe(module, {})["template"])
    return Overlay(
        REGISTRY, component_index(REGISTRY), (CheckedComponent(SLUGIFY, template, derive_manifest(SLUGIFY)),)
    )


class TestRequest:
    @pytest.mark.parametrize("entry", ROWS)
    def test_is_understood(self, entry: Entry) -> None:
        found = understand(entry["request"], REGISTRY, base_flow(entry))
        if entry.get("intent") == "build_flow" and not found.actions:
            return  # refused: that is no misunderstanding
        assert found.intent == entry.get("intent", "manage_files")
        if "tools" in entry:
            assert [action.tool for action in found.actions] == entry["tools"]
            arguments = found.actions[-1].arguments if found.actions else {}
            assert arguments | entry.get("arguments", {}) == arguments
        types = {node.type for node in found.flow.nodes} if found.flow is not None else set()
        assert set(entry.get("types", ())) <= types
        assert [part for part in entry.get("reply", ()) if part not in found.reply] == []

    @cases(80)
    @given(
        st.one_of(
            st.text(max_size=300),
            st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=8)), max_size=16).map(" ".join),
            st.sampled_from(PARTS).flatmap(lambda word: st.text(max_size=40).map(lambda text: f"{text} {word} {text}")),
        ),
        st.sampled_from(['{"error": "File not found: x", "path": "x"}', '{"ok": false, "error": "No."}', "boom", "[]"]),
    )
    def test_claims_nothing_that_no_tool_did(self, text: str, refusal: str) -> None:
        found, said = told(text, *[refusal] * 60)
        if found.actions:
            assert not any(said.startswith(word) for word in ("Wrote", "Replaced '", "Took back", "Built", "Added"))
        if found.intent not in {"question", "off_topic"}:
            assert false_claims(said, Happened()) == []
        if found.intent in {"manage_files", "generate_component", "off_topic"}:
            assert not succeeded(found, [outcome_of(action, refusal) for action in found.actions])

    @pytest.mark.parametrize("request_", ["read " + "a/" * 20_000, "replace " + "a with b in " * 4_000, "'" * 40_000])
    def test_may_be_long(self, request_: str) -> None:
        assert understand(request_, REGISTRY, Flow()) is not None

    def test_that_is_too_long_to_be_read_is_refused_as_such(self) -> None:
        refused = understand("replace " + "a with b in " * MOST_WORDS, REGISTRY, Flow())
        assert (refused.intent, refused.actions) == ("off_topic", ())
        assert "more than 300 words" in refused.reply

    def test_keeps_what_is_to_be_written_as_it_stands(self) -> None:
        content = "a\n\n  b, 'c' → \"d\"; e.g. no, wait…\n" + "long " * 2_000 + "end"
        found = understand(f"write a file x.md saying: {content}", REGISTRY, Flow())
        assert found.actions[0].arguments["content"] == content

    def test_names_what_follows_a_quoted_content(self) -> None:
        _, said = told(
            "write a file x.md saying 'a' and then run it", '{"status": "created", "path": "x.md", "bytes_written": 1}'
        )
        assert "I did not act on: 'and then run it'" in said


class TestWords:
    def test_of_a_written_file_are_the_tools(self) -> None:
        _, said = told("write a file x.md saying hi", '{"status": "created", "path": "y.md", "bytes_written": 77}')
        assert "Wrote y.md (77 bytes)." in said

    def test_say_that_an_older_file_is_gone(self) -> None:
        _, said = told("write a file x.md saying hi", '{"status": "updated", "path": "x.md", "bytes_written": 2}')
        assert "bytes). Its previous content is lost." in said

    def test_show_a_file_whatever_it_holds(self) -> None:
        answer = (
            '{"status": "ok", "path": "x.md", "content": "     1→```\\n     2→b → c", "total_lines": 2, "num_lines": 2}'
        )
        _, said = told("read x.md", answer)
        assert "x.md, 2 lines:\n\n````\n```\nb → c\n````" in said

    def test_say_how_much_of_a_file_is_shown(self) -> None:
        answer = '{"status": "ok", "path": "x.md", "content": "     1→a", "total_lines": 9000, "num_lines": 1}'
        assert "the first 1 of 9000 lines" in told("read x.md", answer)[1]

    @pytest.mark.parametrize(
        ("request_", "error", "words"),
        [
            ("read ../x.md", "Path escapes workspace boundary: ../x.md", "only files inside your workspace"),
            ("write a file con.md saying a", "Path component 'con' is reserved", "choose another"),
            ("read x.md", "File not found: x.md", 'Say "show my files"'),
            ("replace a with b in x.md", ("old_string appears 3 times in x.md; include more of the "
                                          "surrounding text, or set replace_all"),
             "'a' appears 3 times in x.md. To change all of them, say \"everywhere\"."),
            ("read x.md", "There is no tool 'read_file'.", "Nothing was read. You cannot use a workspace here"),
        ],
    )  # fmt: skip
    def test_of_a_refusal_are_plain(self, request_: str, error: str, words: str) -> None:
        found, said = told(request_, _error(error))
        assert said.startswith("That did not work: ")
        assert words in said
        assert "old_string" not in said
        assert not succeeded(found, [outcome_of(found.actions[0], _error(error))])

    def test_list_what_was_found(self) -> None:
        matches = '{"status": "ok", "matches": [], "truncated": false}'
        assert "There are no .md files in your workspace." in told("list my markdown files", matches)[1]
        match = '{"path": "a.md", "line": 3, "text": " the K "}'
        rows = f'{{"status": "ok", "pattern": "k", "matches": [{match}], "truncated": true}}'
        _, said = told("find 'k' in my files", rows)
        assert "- a.md, line 3: the K" in said
        assert "there may be more" in said

    def test_tell_what_was_taken_back(self) -> None:
        assert "- removed w" in told("undo", '{"ok": true, "changes": ["removed w"]}')[1]

    def test_say_what_can_be_taken_back(self) -> None:
        _, said = told(
            "undo",
            '{"ok": false, "error": "Nothing was changed in this turn.", "remedy": "There is nothing to take back."}',
        )
        assert said.startswith("That did not work: Nothing was changed in this turn.")
        assert "headgate flows versions" in said

    def test_name_the_components_that_the_search_found(self) -> None:
        rows = '{"ok": true, "components": [{"type": "Reverser", "what": "Turns it round."}]}'
        found, said = told("create a component that reverses text", rows)
        assert "- Reverser: Turns it round." in said
        assert "nothing was made" in said
        assert not succeeded(found, [outcome_of(found.actions[0], rows)])


def _error(text: str) -> str:
    return orjson.dumps({"error": text, "path": "x"}).decode()


class TestDocument:
    def described(self) -> dict[str, Any]:
        return {**classify_io(FLOW, REGISTRY).as_json(), "issues": []}

    def test_holds_the_flow_and_what_it_takes_and_gives(self) -> None:
        text = document(FLOW, REGISTRY, self.described())
        assert text.startswith("# Two steps\n\nSays it back.\n")
        assert "## What it takes\n\n- `text`: a text\n" in text
        assert "## What it gives\n\n- `show`: a chat message\n" in text
        assert "text.text -> show.input" in text

    def test_says_what_keeps_it_from_running(self) -> None:
        assert "## Before it can run\n\n- No way." in document(FLOW, REGISTRY, {"issues": [{"message": "No\nway."}]})

    def test_is_written_with_what_the_tool_answered(self) -> None:
        found = understand("document this flow", REGISTRY, FLOW)
        made = found.actions[1].after({"inputs": [{"node": "told", "kind": "chat"}]})
        assert made.arguments["path"] == file_name(FLOW) == "two-steps.md"
        assert "- `told`: a chat message" in str(made.arguments["content"])

    def test_shows_no_secret(self) -> None:
        key = "sk-" + "a1B2" * 10
        node = Node(
            id="call",
            type="HTTPRequest",
            params={"url": "https://example.org", "headers": {"Authorization": f"Bearer {key}"}},
        )
        assert key not in document(Flow(nodes=(node,)), REGISTRY, {})


class TestOwnComponents:
    @pytest.mark.parametrize(
        "request_",
        [
            "take the text I type, run it through Slugify and show it",
            "use Slugify on my text and show the result",
            "gör om min text med Slugify och visa den",
        ],
    )
    def test_are_built_with_by_their_name(self, request_: str) -> None:
        catalog = with_slugify()
        flow = understand(request_, catalog, Flow()).flow
        assert flow is not None
        assert [node.type for node in flow.nodes] == ["TextInput", "Slugify", "ChatOutput"]
        assert [edge.target for edge in flow.edges] == ["slugify", "show"]
        assert check_runnable(flow, catalog) == []

    def test_are_put_into_the_flow_at_hand(self) -> None:
        found = understand("add Slugify before showing", with_slugify(), FLOW)
        assert [
            action.arguments.get("component_type") for action in found.actions if action.tool == "add_component"
        ] == ["Slugify"]
