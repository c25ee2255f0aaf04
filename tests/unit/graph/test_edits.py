import json

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.changes import Change, ChangeKind, apply_changes
from headgate.graph.edits import (
    Edit,
    add_node,
    configure,
    connect,
    disconnect,
    move,
    relabel,
    remove_node,
    rename_node,
    set_code,
    set_policy,
    undo,
)
from headgate.graph.geometry import boxes
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Flow, InputSource, Position, StepPolicy
from headgate.graph.validate import check_draft
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs, json_values, port_names
from tests.unit.graph.wires import edge, flow, node

BRIEF = flow(
    node("page", "URL", url="https://example.org"),
    node("brief", "AIStep", prompt="Sum up {{page.text}}", model="a/b"),
    node("out", "ChatOutput"),
    edges="page.text -> brief.input\nbrief.output -> out.input",
)


def refused(message: str) -> pytest.RaisesExc[FlowInvalid]:
    return pytest.raises(FlowInvalid, match=message)


def whole(edit: Edit, before: Flow) -> None:
    """An edit can be undone, replayed and sent as a JSON Patch."""
    assert undo(edit).flow == before
    assert apply_changes(before, edit.changes).flow == edit.flow
    document = json.loads(json.dumps(before.model_dump(mode="json")))
    assert jsonpatch.apply_patch(document, edit.patch()) == edit.flow.model_dump(mode="json")
    assert edit.lines() or not edit.changes
    json.dumps([change.as_json() for change in edit.changes])


class TestAddNode:
    def test_names_the_node_after_its_type(self) -> None:
        made = add_node(Flow(), "URL", PALETTE).flow
        made = add_node(made, "URL", PALETTE).flow
        made = add_node(made, "HTTPRequest", PALETTE).flow
        assert [one.id for one in add_node(made, "AIStep", PALETTE).flow.nodes] == [
            "url",
            "url_2",
            "http_request",
            "ai_step",
        ]

    def test_sets_what_it_is_given(self) -> None:
        edit = add_node(
            Flow(),
            "Regex",
            PALETTE,
            node_id="r",
            params={"mode": "test"},
            label="L",
            position=Position(x=1, y=2),
            code="c",
        )
        (made,) = edit.flow.nodes
        assert (made.id, made.params, made.label, made.position, made.code) == (
            "r",
            {"mode": "test"},
            "L",
            Position(x=1, y=2),
            "c",
        )
        assert edit.lines() == ["added 'r' (Regex)"]

    def test_refuses_what_does_not_fit(self) -> None:
        with refused("no component 'Url'; did you mean 'URL'"):
            add_node(Flow(), "Url", PALETTE)
        with refused("has no field 'adress'"):
            add_node(Flow(), "URL", PALETTE, params={"adress": "x"})
        with refused("the id 'page' is taken. 'page_2' is free"):
            add_node(BRIEF, "URL", PALETTE, node_id="page")
        with refused("'flow_input' is reserved"):
            add_node(BRIEF, "URL", PALETTE, node_id="flow_input")
        with refused("'Page 1' is not a valid node id"):
            add_node(BRIEF, "URL", PALETTE, node_id="Page 1")
        with refused("finite"):
            add_node(BRIEF, "Wait", PALETTE, params={"seconds": float("inf")})

    @SOME
    @given(graphs())
    def test_overlaps_nothing(self, before: Flow) -> None:
        edit = add_node(before, "URL", PALETTE)
        *others, new = boxes(edit.flow, PALETTE)
        assert not any(new.overlaps(other) for other in others)
        whole(edit, before)


class TestRemoveNode:
    def test_reports_the_edges_that_went(self) -> None:
        edit = remove_node(BRIEF, "brief")
        assert edit.lines() == [
            "removed brief.output -> out.input",
            "removed page.text -> brief.input",
            "removed 'brief' (AIStep)",
        ]
        assert edit.flow.edges == ()

    def test_drops_bindings_that_read_it(self) -> None:
        policy = StepPolicy(input_bindings={"prompt": "{{page.text}}", "input": "{{flow_input.text}}"})
        before = set_policy(BRIEF, "brief", policy, PALETTE).flow
        edit = remove_node(before, "page")
        found = edit.flow.node("brief")
        assert found is not None
        assert found.policy.input_bindings == {"input": "{{flow_input.text}}"}
        assert check_draft(edit.flow, PALETTE) == []
        whole(edit, before)

    def test_names_the_nearest_node(self) -> None:
        with refused("no node 'pagee'; did you mean 'page'"):
            remove_node(BRIEF, "pagee")

    @SOME
    @given(flows(), st.data())
    def test_can_be_undone(self, before: Flow, data: st.DataObject) -> None:
        if before.nodes:
            whole(remove_node(before, data.draw(st.sampled_from(before.nodes)).id), before)


class TestConnect:
    def test_adds_the_edge_at_the_end(self) -> None:
        edit = connect(BRIEF, edge("page.links -> brief.input"), PALETTE, replace=True)
        assert edit.flow.edges == (edge("brief.output -> out.input"), edge("page.links -> brief.input"))
        assert edit.lines() == ["removed page.text -> brief.input", "added page.links -> brief.input"]
        whole(edit, BRIEF)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("page.txt -> brief.input", "has no output 'txt'; did you mean 'text'"),
            ("page.text -> brief.inputs", "has no input 'inputs'; did you mean 'input'"),
            ("page.text -> nobody.input", "there is no node 'nobody'"),
            ("page.text -> page.url", "cannot feed itself"),
            ("page.text -> brief.model", "takes Model"),
            ("page.text -> brief.input", "already exists"),
            ("page.title -> brief.input", "takes one edge and already has page.text -> brief.input"),
            ("brief.output -> page.url", "form a cycle: page -> brief -> page"),
            ("out.text -> page.url", "form a cycle: page -> brief -> out -> page"),
        ],
    )
    def test_refuses_what_does_not_fit(self, text: str, message: str) -> None:
        with refused(message):
            connect(BRIEF, edge(text), PALETTE)

    def test_takes_many_where_many_may_come(self) -> None:
        before = flow(node("a", "URL"), node("b", "URL"), node("c", "CombineText"), edges="a.text -> c.parts")
        assert len(connect(before, edge("b.text -> c.parts"), PALETTE).flow.edges) == 2

    def test_connects_tools(self) -> None:
        before = flow(node("calc", "Calculator"), node("boss", "Agent"))
        whole(connect(before, edge("calc.tool -> boss.tools"), PALETTE), before)


class TestDisconnect:
    def test_removes_the_edge(self) -> None:
        edit = disconnect(BRIEF, edge("page.text -> brief.input"))
        assert edit.flow.edges == (edge("brief.output -> out.input"),)
        whole(edit, BRIEF)

    def test_names_the_nearest_edge(self) -> None:
        with refused("there is no edge page.txt -> brief.input; did you mean 'page.text -> brief.input'"):
            disconnect(BRIEF, edge("page.txt -> brief.input"))


class TestConfigure:
    def test_gives_a_json_patch(self) -> None:
        edit = configure(BRIEF, "page", {"url": "https://new"}, PALETTE)
        assert edit.patch() == [{"op": "replace", "path": "/nodes/0/params/url", "value": "https://new"}]
        assert edit.lines() == ['\'page\' params.url: "https://example.org" -> "https://new"']
        whole(edit, BRIEF)

    def test_goes_back_to_the_default(self) -> None:
        edit = configure(BRIEF, "brief", {}, PALETTE, unset=["model"])
        assert edit.flow.nodes[1].params == {"prompt": "Sum up {{page.text}}"}
        assert edit.patch() == [{"op": "remove", "path": "/nodes/1/params/model"}]

    def test_clears_a_field_that_was_never_set(self) -> None:
        assert configure(BRIEF, "brief", {}, PALETTE, unset=["output_type"]).changes == ()

    def test_changes_nothing_when_nothing_is_new(self) -> None:
        assert configure(BRIEF, "page", {"url": "https://example.org"}, PALETTE).changes == ()

    def test_tells_one_from_true(self) -> None:
        before = configure(BRIEF, "brief", {"input": 1}, PALETTE).flow
        assert configure(before, "brief", {"input": True}, PALETTE).changes

    def test_refuses_unknown_fields_and_options(self) -> None:
        with refused("has no field 'promt'; did you mean 'prompt'"):
            configure(BRIEF, "brief", {"promt": "x"}, PALETTE)
        with refused("cannot be 'txt'; did you mean 'text'"):
            configure(BRIEF, "brief", {"output_type": "txt"}, PALETTE)
        with refused("has no field 'mdel'; did you mean 'model'"):
            configure(BRIEF, "brief", {}, PALETTE, unset=["mdel"])
        with refused("no component 'Gone'"):
            configure(flow(node("a", "Gone")), "a", {"x": 1}, PALETTE)

    def test_mends_a_node_that_has_an_old_field(self) -> None:
        before = flow(node("a", "URL", old="x"))
        assert configure(before, "a", {"url": "y"}, PALETTE, unset=["old"]).flow.nodes[0].params == {"url": "y"}

    def test_takes_the_edges_of_ports_that_are_gone(self) -> None:
        before = flow(
            node("s", "Switch", cases=["bug", "idea"]),
            node("a", "ChatOutput"),
            node("b", "ChatOutput"),
            edges="s.bug -> a.input\ns.idea -> b.input",
        )
        edit = configure(before, "s", {"cases": ["bug"]}, PALETTE)
        assert edit.flow.edges == (edge("s.bug -> a.input"),)
        assert "removed s.idea -> b.input" in edit.lines()
        whole(edit, before)

    @settings(deadline=None)
    @given(st.dictionaries(port_names, json_values), st.dictionaries(port_names, json_values))
    def test_can_be_undone_and_patched(self, first: dict[str, JsonValue], second: dict[str, JsonValue]) -> None:
        catalog = _Anything()
        before = configure(flow(node("a", "A"), node("b", "B")), "b", first, catalog).flow
        edit = configure(before, "b", second, catalog)
        assert edit.flow.nodes[1].params == {**first, **second}
        whole(edit, before)


class _Anything:
    """A catalog whose components have every field."""

    def types(self) -> list[str]:
        return []

    def template(self, type_, params=None):  # type: ignore[no-untyped-def]
        found = PALETTE.templates["URL"]
        field = found.fields[0].model_copy(update={"types": (), "options": ()})
        return found.model_copy(update={"fields": tuple(field.model_copy(update={"name": name}) for name in params)})

    def code(self, type_: str) -> str | None:
        return None


class TestRenameNode:
    def test_follows_edges_and_references(self) -> None:
        edit = rename_node(BRIEF, "page", "source", PALETTE)
        assert edit.flow.nodes[1].params["prompt"] == "Sum up {{source.text}}"
        assert edit.flow.edges[0] == edge("source.text -> brief.input")
        assert edit.lines()[0] == "renamed 'page' to 'source'"
        assert check_draft(edit.flow, PALETTE) == []
        whole(edit, BRIEF)

    def test_refuses_ids_that_are_taken_or_wrong(self) -> None:
        with refused("the id 'brief' is taken"):
            rename_node(BRIEF, "page", "brief")
        with refused(
            "' is not a valid node id: use at most 64 lower-case letters, digits and _, starting with a letter"
        ):
            rename_node(BRIEF, "page", "Brief")
        assert rename_node(BRIEF, "page", "page").changes == ()

    @SOME
    @given(flows(), st.data())
    def test_can_be_undone_and_taken_back_by_renaming(self, before: Flow, data: st.DataObject) -> None:
        if before.nodes:
            old = data.draw(st.sampled_from(before.nodes)).id
            edit = rename_node(before, old, "zzz_new_zzz")
            whole(edit, before)
            assert rename_node(edit.flow, "zzz_new_zzz", old).flow == before


class TestOtherEdits:
    def test_change_one_thing_each(self) -> None:
        for edit in (
            relabel(BRIEF, "page", "The page"),
            set_code(BRIEF, "page", "class X: ..."),
            set_policy(BRIEF, "brief", StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS), PALETTE),
            move(BRIEF, {"page": Position(x=5, y=5), "out": Position(x=9, y=9)}),
        ):
            assert edit.changes
            whole(edit, BRIEF)

    def test_change_nothing_when_nothing_is_new(self) -> None:
        assert relabel(BRIEF, "page", "").changes == ()
        assert move(BRIEF, {"page": Position()}).changes == ()

    def test_refuse_a_policy_that_makes_no_sense(self) -> None:
        with refused("is a first step"):
            set_policy(BRIEF, "page", StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS), PALETTE)
        with refused("at most 200"):
            relabel(BRIEF, "page", "x" * 201)


class TestApplyChanges:
    def test_refuses_a_change_that_meets_another_flow(self) -> None:
        change = Change(ChangeKind.NODE_REMOVED, 0, BRIEF.nodes[0])
        with pytest.raises(ValueError, match="no longer has page at position 0"):
            apply_changes(Flow(), [change])
        with pytest.raises(ValueError, match="no longer has page at position 0"):
            apply_changes(flow(node("page", "ReadFile")), [change])

    def test_says_where_an_event_happened(self) -> None:
        (change,) = relabel(BRIEF, "page", "P").changes
        assert change.as_json()["kind"] == "node_changed"
        assert (change.id, change.index) == ("page", 0)
        assert relabel(BRIEF, "page", "P").nodes == ["page"]
