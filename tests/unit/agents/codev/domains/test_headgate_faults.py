"""What is checked of a flow before it is written, without any place."""

from typing import Any

import pytest

from headgate.agents.codev.domains.headgate.definitions import definition_of, flow_of, id_for
from headgate.agents.codev.domains.headgate.faults import faults_of, keys_in, new_keys
from headgate.agents.codev.writing.journal import _refusal
from headgate.agents.codev.writing.placing import MOST_LINES
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.foundation.ids import is_id, made_at, new_id
from headgate.graph.model import Edge, Flow, Node, OutputType, StepPolicy

CATALOG = Registry(BUILTINS)
KEY = "sk-" + "abcdefghijklmnop1234"


def flow(*nodes: Node, edges: tuple[Edge, ...] = ()) -> Flow:
    return Flow(name="F", nodes=nodes, edges=edges)


def node(id_: str, type_: str, **params: Any) -> Node:
    return Node(id=id_, type=type_, params=params)


class TestFaults:
    def test_a_half_built_flow_has_none(self) -> None:
        assert faults_of(flow(node("ask", "AIStep"), node("show", "ChatOutput")), CATALOG) == []

    @pytest.mark.parametrize(
        ("wrong", "where", "said"),
        [
            (flow(node("a", "Chatinput")), "a", "did you mean 'ChatInput'"),
            (flow(node("a", "ChatOutput", colour="red")), "a.colour", "colour"),
            (
                flow(node("a", "ChatInput"), edges=(Edge(source="a", output="text", target="b", input="input"),)),
                "a.text -> b.input",
                "there is no node 'b'",
            ),
            (
                flow(
                    node("a", "ChatInput"),
                    node("b", "ChatOutput"),
                    edges=(Edge(source="a", output="words", target="b", input="input"),),
                ),
                "a.words -> b.input",
                "no output 'words'",
            ),
            (
                flow(
                    node("a", "ChatInput"),
                    node("b", "ChatOutput"),
                    edges=(Edge(source="a", output="text", target="b", input="in"),),
                ),
                "a.text -> b.in",
                "no input 'in'",
            ),
            (
                flow(node("p", "Python", source="import socket\n\ndef run(inputs):\n    return eval('1')")),
                "p.source",
                "eval",
            ),
            (
                flow(node("h", "HTTPRequest", headers={"Authorization": f"Bearer {KEY}"})),
                "h.headers",
                (
                    "contains a credential as text, which would be stored with the flow and shown to everyone "
                    "with access to it"
                ),
            ),
        ],
    )
    def test_names_what_could_neither_be_saved_nor_run(self, wrong: Flow, where: str, said: str) -> None:
        faults = faults_of(wrong, CATALOG)
        assert any(fault.where == where and said in fault.message for fault in faults), faults
        assert all(fault.remedy for fault in faults)
        assert KEY not in str(faults)

    def test_a_contract_that_is_no_schema_is_one(self) -> None:
        policy = StepPolicy(output_type=OutputType.JSON, output_contract={"type": "json", "schema": {"type": "money"}})
        wrong = node("a", "AIStep").model_copy(update={"policy": policy})
        assert [fault.where for fault in faults_of(flow(wrong), CATALOG)] == ["a.output_contract"]

    def test_a_secret_that_is_referred_to_is_none(self) -> None:
        named = flow(node("w", "WebhookOut", secret={"secret": "HOOK_SECRET"}))
        assert new_keys(flow(), named, CATALOG) == []
        assert faults_of(named, CATALOG) == []

    @pytest.mark.parametrize("text", ["HOOK_SECRET", "{{w.response}}", "whsec_abc"])
    def test_text_in_place_of_a_secret_is_one(self, text: str) -> None:
        (fault,) = faults_of(flow(node("x", "WebhookOut", secret=text)), CATALOG)
        assert fault.where == "x.secret"

    def test_are_all_found_and_a_refusal_says_how_many_it_omits(self) -> None:
        faults = faults_of(flow(*(node(f"n{number}", "Nothing") for number in range(MOST_LINES + 5))), CATALOG)
        assert len(faults) == MOST_LINES + 5
        answer = _refusal(faults)
        assert answer is not None
        assert f"{MOST_LINES + 5} faults" in str(answer["error"])
        listed = answer["faults"]
        assert isinstance(listed, list)
        assert (len(listed), listed[-1]) == (MOST_LINES + 1, "... and 5 more")


class TestKeys:
    def test_are_found_however_deep_they_stand(self) -> None:
        found = keys_in(flow(node("a", "AIStep", model={"params": {"deep": [f"use {KEY}"]}})), CATALOG)
        assert {(one[0], one[1]) for one in found} == {("a", "model")}

    def test_that_stood_there_before_are_not_the_changes(self) -> None:
        before = flow(node("a", "PromptTemplate", template=f"use {KEY}"))
        after = flow(node("b", "PromptTemplate", template=f"use {KEY}"), node("c", "PromptTemplate", template="x"))
        assert new_keys(before, after, CATALOG) == []
        assert new_keys(flow(), after, CATALOG) == ["b.template"]

    def test_where_a_reference_goes_may_have_any_shape(self) -> None:
        before = flow(node("w", "WebhookOut", secret="our old secret"))
        assert new_keys(flow(), before, CATALOG) == ["w.secret"]
        changed = flow(node("w", "WebhookOut", secret="our old secret", on_error="fail"))
        assert new_keys(before, changed, CATALOG) == []

    def test_a_word_that_is_like_one_is_none(self) -> None:
        after = flow(node("a", "PromptTemplate", template="a task-list of sk-ies, token: maybe"))
        assert new_keys(flow(), after, CATALOG) == []


class TestDefinitions:
    def test_come_back_as_they_were(self) -> None:
        there = flow(node("a", "AIStep", prompt="x", model="openai/gpt-5-mini"), node("b", "ChatOutput"))
        assert flow_of(definition_of(there)) == there
        assert definition_of(flow_of(definition_of(there))) == definition_of(there)


class TestIds:
    def test_are_the_same_for_a_token_and_differ_between_tokens(self) -> None:
        tokens = [new_id() for _ in range(50)]
        assert [id_for(one) for one in tokens] == [id_for(one) for one in tokens]
        assert len({id_for(one) for one in tokens}) == 50

    def test_are_ids_that_sort_by_the_time_of_the_token(self) -> None:
        token = new_id()
        assert is_id(id_for(token))
        assert made_at(id_for(token)) == made_at(token)
        assert id_for(token) != token

    @pytest.mark.parametrize("token", ["", "x", "Ω" * 300, "../../etc", "0123456X-abcd"])
    def test_are_ids_for_any_token(self, token: str) -> None:
        assert is_id(id_for(token))
