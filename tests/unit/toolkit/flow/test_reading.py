import json
from typing import Any

import pytest

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.model import Edge, Flow, FormField, Node, Position, StepPolicy
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.workbench import Workbench

REGISTRY = Registry(BUILTINS)
BY_NAME = {tool.name: tool for tool in TOOLS}


def bench_of(flow: Flow) -> Workbench:
    return Workbench(
        principal=LOCAL, space_id=LOCAL.space_id, flow=flow, registry=Overlay(REGISTRY, component_index(REGISTRY))
    )


async def call(bench: Workbench, tool: str, **arguments: Any) -> dict[str, Any]:
    return await BY_NAME[tool].call(bench, arguments)


def chain(length: int, text: str = "") -> Flow:
    nodes = [Node(id="n0", type="TextInput", label="The start", params={"text": text})]
    nodes += [Node(id=f"n{n}", type="CombineText", params={"title": f"{n}{text}"}) for n in range(1, length)]
    edges = [Edge(source=f"n{n}", output="text", target=f"n{n + 1}", input="parts") for n in range(length - 1)]
    return Flow(name="Long", nodes=tuple(nodes), edges=tuple(edges))


class TestReadFlow:
    async def test_shows_every_node_and_edge_first_and_no_value(self) -> None:
        answer = await call(bench_of(chain(44, "value " * 50)), "read_flow")
        assert answer["total"] == {"nodes": 44, "edges": 43}
        assert answer["nodes"][:2] == ['n0: TextInput "The start"', "n1: CombineText"]
        assert len(answer["nodes"]) == 44
        assert answer["edges"][0] == "n0.text -> n1.parts"
        assert len(answer["edges"]) == 43
        assert "values" not in answer
        assert "next" not in answer

    async def test_pages_show_each_node_once(self) -> None:
        bench, after, ids = bench_of(chain(400)), "", list[str]()
        while True:
            answer = await call(bench, "read_flow", after=after)
            ids += [line.partition(":")[0] for line in answer["nodes"]]
            if "next" not in answer:
                break
            after = ids[-1]
            assert f"after='{after}'" in answer["next"]
        assert ids == [f"n{n}" for n in range(400)]

    async def test_clips_values_one_by_one_with_a_mark(self) -> None:
        answer = await call(bench_of(chain(3, "x" * 2000)), "read_flow", values=True)
        assert set(answer["values"]) == {"n0", "n1", "n2"}
        for values in answer["values"].values():
            (text,) = values.values()
            assert "more characters]" in text
            assert len(text) < 400

    async def test_shows_the_neighbourhood_of_a_node(self) -> None:
        answer = await call(bench_of(chain(9)), "read_flow", node_id="n4", distance=1)
        assert [line.partition(":")[0] for line in answer["nodes"]] == ["n3", "n4", "n5"]
        assert answer["values"]["n4"] == {"title": "4"}

    async def test_finds_a_text_in_values_and_says_when_there_is_none(self) -> None:
        bench = bench_of(chain(9))
        assert (await call(bench, "read_flow", query="the START"))["nodes"] == ['n0: TextInput "The start"']
        answer = await call(bench, "read_flow", query="nowhere")
        assert answer["nodes"] == []
        assert "nowhere" in answer["hint"]

    async def test_names_what_is_read_by_reference(self) -> None:
        flow = Flow(
            nodes=(
                Node(id="page", type="URL", params={"url": "https://example.org"}),
                Node(id="out", type="TextInput", params={"text": "About {{page.text}}"}),
            )
        )
        answer = await call(bench_of(flow), "read_flow")
        assert answer["references"] == ["out.text reads {{page.text}}"]

    async def test_shows_form_policies_notes_and_groups(self) -> None:
        flow = Flow(
            nodes=(
                Node(id="frame", type="Group", params={"title": "Fetch", "width": 600, "height": 600}),
                Node(
                    id="page",
                    type="URL",
                    position=Position(x=100, y=100),
                    policy=StepPolicy(output_contract={"type": "text", "max_length": 9}),
                ),
                Node(id="note", type="Note", position=Position(x=2000, y=0), params={"text": "Mind the gap"}),
            ),
            form=(FormField(id="city", required=True),),
        )
        bench = bench_of(flow)
        assert (await call(bench, "read_flow"))["total"] == {
            "nodes": 3,
            "edges": 0,
            "form": 1,
            "notes": 1,
            "groups": 1,
            "policies": 1,
        }
        assert (await call(bench, "read_flow", part="form"))["form"] == [
            {"id": "city", "type": "text", "required": True}
        ]
        policies = (await call(bench, "read_flow", part="policies"))["policies"]
        assert policies == {"page": {"output_contract": {"type": "text", "max_length": 9}}}
        assert (await call(bench, "read_flow", part="notes"))["notes"] == [{"id": "note", "text": "Mind the gap"}]
        groups = (await call(bench, "read_flow", part="groups"))["groups"]
        assert groups == [{"id": "frame", "title": "Fetch", "nodes": ["page"]}]

    async def test_never_shows_a_secret(self) -> None:
        node = Node(id="hook", type="WebhookOut", params={"url": "https://example.org", "secret": "hunter2-secret"})
        answer = await call(bench_of(Flow(nodes=(node,))), "read_flow", values=True)
        assert "hunter2" not in str(answer)

    @pytest.mark.parametrize("after", ["nowhere", "n99"])
    async def test_refuses_a_page_that_is_none(self, after: str) -> None:
        answer = await call(bench_of(chain(3)), "read_flow", after=after)
        assert answer["ok"] is False
        assert after in answer["error"]


class TestGetFieldValue:
    async def test_gives_a_long_text_in_parts_that_make_the_whole(self) -> None:
        text = "".join(f"line {n}\n" for n in range(2000))
        bench, offset, parts = bench_of(chain(1, text)), 0, list[str]()
        while True:
            answer = await call(bench, "get_field_value", node_id="n0", field="text", offset=offset)
            assert answer["total"] == len(text)
            parts.append(answer["value"])
            if "next_offset" not in answer:
                break
            offset = answer["next_offset"]
        assert "".join(parts) == text
        assert len(parts) > 1


class TestEditingParts:
    async def test_sets_the_form_and_settings_and_leaves_the_rest(self) -> None:
        bench = bench_of(chain(2))
        answer = await call(
            bench, "edit_flow", form=[{"id": "city", "required": True}], settings={"data_retention_days": 30}
        )
        assert answer["ok"] is True
        assert bench.flow.form == (FormField(id="city", required=True),)
        assert bench.flow.settings.data_retention_days == 30
        assert (bench.flow.name, len(bench.flow.nodes)) == ("Long", 2)
        assert bench.actions[-1]["auto_apply"] is True
        assert not bench.pending
        await call(bench, "edit_flow", settings={"data_retention_days": None}, form=[])
        after = bench.flow
        assert (after.settings.data_retention_days, after.form) == (None, ())

    async def test_refuses_a_setting_that_is_none_and_a_question_asked_twice(self) -> None:
        bench = bench_of(chain(2))
        assert "retention" in (await call(bench, "edit_flow", settings={"retention": 3}))["error"]
        assert "two questions" in (await call(bench, "edit_flow", form=[{"id": "a"}, {"id": "a"}]))["error"]
        assert bench.flow == chain(2)

    async def test_sets_the_policy_and_the_title_of_a_node(self) -> None:
        bench = bench_of(chain(2))
        answer = await call(
            bench,
            "configure_component",
            node_id="n1",
            policy={"output_contract": {"type": "text", "max_length": 40}},
            label="Joined",
        )
        assert answer["ok"] is True
        node = bench.flow.node("n1")
        assert node is not None
        assert node.policy.output_contract == {"type": "text", "max_length": 40}
        assert node.label == "Joined"
        assert '"label": "Joined"' in json.dumps(bench.actions[-1]["node"])
        await call(bench, "configure_component", node_id="n1", policy={"output_contract": None})
        assert bench.flow.node("n1").policy == StepPolicy()  # type: ignore[union-attr]

    async def test_refuses_a_rule_that_is_none(self) -> None:
        bench = bench_of(chain(2))
        answer = await call(bench, "configure_component", node_id="n1", policy={"retries": 3})
        assert answer["ok"] is False
        assert "read_grammar('policy')" in answer["remedy"]

    async def test_draws_a_frame_around_nodes_that_then_holds_them(self) -> None:
        bench = bench_of(chain(2))
        answer = await call(bench, "group_components", node_ids=["n0", "n1"], title="All")
        groups = (await call(bench, "read_flow", part="groups"))["groups"]
        assert groups == [{"id": answer["node_id"], "title": "All", "nodes": ["n0", "n1"]}]
