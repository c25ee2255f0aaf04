"""Every conversation of `tests/data/assistant_scenarios`, played over HTTP; a test for each, named after it.

`make test` plays each over one of its protocols, in turn; `make test-faults` over all.
"""

from typing import Any

import pytest

from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.scenarios.matching import as_event, first_missing, holds
from tests.integration.agents.assistant.scenarios.model import Model, read_by, speaking, tool_names
from tests.integration.agents.assistant.scenarios.script import Expected, Intent, Protocol, Said, Scenario, scenarios
from tests.integration.agents.assistant.scenarios.stage import KEY, Stage, answered, stage

PLAYED = [
    pytest.param(
        scenario,
        protocol,
        id=f"{scenario.name}-{protocol}",
        marks=[] if place == number % len(scenario.protocols) else [pytest.mark.campaign],
    )
    for number, scenario in enumerate(scenarios())
    for place, protocol in enumerate(scenario.protocols)
]


class TestPlayed:
    @pytest.mark.parametrize(("scenario", "protocol"), PLAYED)
    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_scenario_holds(self, settings: Settings, scenario: Scenario, protocol: Protocol) -> None:
        with speaking(protocol) as model:
            async with stage(settings, model) as found:
                await found.prepare(scenario)
                for turn in scenario.turns:
                    if not isinstance(turn, Said):
                        await found.do(turn)
                        continue
                    intent = Intent(intent=turn.intent) if isinstance(turn.intent, str) else turn.intent
                    model.begin(intent, turn.model)
                    await found.say(turn)
                    _check_events(found.events, turn)
                    _check_model(model, turn.expect)
                    await _check_world(found, turn)


def _check_events(events: list[dict[str, Any]], said: Said) -> None:
    expect = said.expect
    told = "\n".join(str(event)[:300] for event in events)
    assert KEY not in told
    missing = first_missing(events, [as_event(one) for one in expect.events])
    assert missing is None, f"{missing} did not come:\n{told}"
    for one in expect.never:
        assert not any(holds(event, as_event(one)) for event in events), f"{one} came:\n{told}"
    if said.stop_at is not None:
        return
    last = events[-1]
    if expect.complete is not None:
        assert last["event"] == "complete", told
        wrong = {
            name: last["data"].get(name)
            for name, value in expect.complete.items()
            if not holds(last["data"].get(name), value)
        }
        assert not wrong, f"not as expected: {wrong}"
    if expect.error is not None:
        assert holds(last, {"event": "error", **expect.error}), told
    assert last["event"] == ("complete" if expect.error is None else "error"), told


def _check_model(model: Model, expect: Expected) -> None:
    assert model.left == [], f"the model was not asked for {model.left}"
    sent = "\n".join(read_by(asked) for asked in model.asked)
    assert KEY not in sent
    for text in expect.model_sees:
        assert text in sent, f"the model never saw {text!r}:\n{sent[-3000:]}"
    for text in expect.model_never_sees:
        assert text not in sent, f"the model saw {text!r}"
    for text in expect.classifier_sees:
        assert text in "\n".join(read_by(asked) for asked in model.classified)
    if expect.tools_offered:
        assert set(expect.tools_offered) <= set(tool_names(model.asked[0]))
    if expect.asked is not None:
        assert len(model.asked) == expect.asked
    if expect.classified is not None:
        assert len(model.classified) == expect.classified


async def _check_world(found: Stage, said: Said) -> None:
    """What is stored afterwards, read over the API."""
    expect = said.expect
    async with found.client(said.who) as client:
        if expect.flow is not None:
            flow_id = found.events[-1].get("data", {}).get("flow_id") or (found.flow or {}).get("id")
            stored = answered(await client.get(f"/flows/{flow_id}"))
            found.flow = stored
            assert holds(_as_written(stored["definition"]), expect.flow), _as_written(stored["definition"])
        if expect.run is not None:
            assert holds(await found.run_of(client), expect.run), await found.run_of(client)
    if expect.files is not None:
        assert await found.files(said.who) == expect.files
    if expect.components is not None:
        assert await found.components(said.who) == expect.components


def _as_written(definition: dict[str, Any]) -> dict[str, Any]:
    """A stored flow as scenarios write it."""
    edges = [f"{one['source']}.{one['output']} -> {one['target']}.{one['input']}" for one in definition["edges"]]
    return {
        "nodes": {node["id"]: node["type"] for node in definition["nodes"]},
        "edges": edges,
        "params": {node["id"]: node.get("params") or {} for node in definition["nodes"]},
        "policies": {node["id"]: node.get("policy") or {} for node in definition["nodes"]},
        "settings": definition.get("settings") or {},
        "from_left": [node["id"] for node in sorted(definition["nodes"], key=lambda node: node["position"]["x"])],
    }
