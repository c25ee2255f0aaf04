"""Each of the 20 tasks built by the assistant in one request: the tool calls of a good model, the real toolkit.

The flow that was built is then published and started by its trigger, and has the effect that the template has.
`make test` builds every third, in one of two ways; `make test-faults` all, in both.
"""

from contextlib import ExitStack
from typing import Any

import orjson
import pytest

from headgate.graph.model import Flow
from headgate.graph.spec import print_spec
from tests.integration.tasks.cases import CASES, Case
from tests.integration.tasks.test_twenty_tasks import NAMES, performed, prepared
from tests.integration.tasks.world import World

Call = tuple[str, dict[str, Any]]


def at_once(world: World, case: Case) -> list[Call]:
    """The flow as text in one call, as a model writes it: without labels."""
    flow = case.recipe.flow()
    nodes = tuple(node.model_copy(update={"label": ""}) for node in flow.nodes)
    return [("build_flow", {"spec": world.here(print_spec(flow.model_copy(update={"nodes": nodes})))})]


def step_by_step(world: World, case: Case) -> list[Call]:
    """The flow step by step: its form, each component with its values and policy, each edge."""
    flow = Flow.model_validate_json(world.here(case.recipe.flow().model_dump_json()))
    form = [field.model_dump(mode="json", exclude_defaults=True) for field in flow.form]
    calls: list[Call] = [("edit_flow", {"name": flow.name, **({"form": form} if form else {})})]
    for node in flow.nodes:
        calls.append(("add_component", {"component_type": node.type, "node_id": node.id, "params": dict(node.params)}))
        if policy := node.policy.model_dump(mode="json", exclude_defaults=True):
            calls.append(("configure_component", {"node_id": node.id, "policy": policy}))
    for edge in flow.edges:
        target = {"target_id": edge.target, "target_input": edge.input}
        calls.append(("connect_components", {"source_id": edge.source, "source_output": edge.output, **target}))
    return calls


def starting(world: World, case: Case) -> list[Call]:
    """The calls that add what starts the flow."""
    calls: list[Call] = []
    for trigger in case.recipe.triggers:
        config = orjson.loads(world.here(orjson.dumps(trigger.config).decode()))
        if config["kind"] == "schedule":
            members = {name: value for name, value in config.items() if name != "kind"}
            calls.append(("set_schedule", {"name": trigger.name, **members}))
        else:
            calls.append(("set_trigger", {"name": trigger.name, "source": config}))
    return [("more_tools", {"group": "triggers"}), *calls] if calls else []


WAYS = {"at once": at_once, "step by step": step_by_step}
BUILT = [
    pytest.param(
        case, built, id=f"{name}-{way}", marks=[] if number % 2 == place and number % 3 == 0 else [pytest.mark.campaign]
    )
    for number, (name, case) in enumerate(zip(NAMES, CASES, strict=True))
    for place, (way, built) in enumerate(WAYS.items())
]


class TestBuilt:
    @pytest.mark.timeout(300)
    @pytest.mark.parametrize(("case", "built"), BUILT)
    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_in_one_request_with_the_effect_of_the_template(self, world: World, case: Case, built: Any) -> None:
        with ExitStack() as stack:
            await prepared(world, case, stack)
            for key in case.called:
                other = await world.call("POST", "/flows", json={"template": key})
                await world.call("POST", f"/flows/{other['id']}/publish", json={})
            world.calls = [*built(world, case), ("describe_flow_io", {}), ("dry_run", {}), *starting(world, case)]
            body = {"input_value": case.recipe.examples[0], "provider": "openai", "apply": True}
            turn = await world.call("POST", "/agentic/assist", json=body)
            assert world.calls == [], (world.results[-2:], turn)
            assert [result for result in world.results if '"ok":false' in result.replace(" ", "")] == []
            flow = await world.call("GET", f"/flows/{turn['flow_id']}")
            assert flow["issues"] == []
            wanted = case.recipe.flow()
            assert [node["type"] for node in flow["definition"]["nodes"]] == [node.type for node in wanted.nodes]
            await performed(world, case, turn["flow_id"])
