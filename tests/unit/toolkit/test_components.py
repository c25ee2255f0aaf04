"""The tools that make components: what they answer, and what they put into the request's catalogue."""

from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType

import pytest

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL, Access
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.foundation.errors import JsonValue
from headgate.graph.model import Flow
from headgate.graph.template import Template
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sdk.hosting import describe
from headgate.toolkit.actions import Action
from headgate.toolkit.components import MAX_DESCRIPTION_CHARS, register_component
from headgate.toolkit.ports import SavedComponent
from headgate.toolkit.registry import TOOLS, tools_for
from headgate.toolkit.tool import Result
from headgate.toolkit.workbench import Workbench

REGISTRY = Registry(BUILTINS)
INDEX = component_index(REGISTRY)
FORECAST = '''from typing import ClassVar

from headgate.sdk import Component, Data, field, output


class Forecast(Component):
    """Gets the weather of a city. Use it to answer what the weather is like."""

    hosts: ClassVar[tuple[str, ...]] = ("api.example.org",)

    city: str = field(help="A city, such as Stockholm.", main=True, tool_mode=True)

    @output(help="An object with degrees.")
    async def run(self) -> Data:
        """The weather."""
        answer = await self.ctx.http.request("GET", "https://api.example.org/weather")
        return {"weather": answer.text}
'''
FINDINGS: list[JsonValue] = [
    {"code": "forbidden_import", "message": "'subprocess' cannot be imported", "remedy": "Use Python.", "line": 3},
    {"code": "reserved_name", "message": "the output name 'tool' is reserved", "remedy": "Rename it.", "line": 9},
]


class Maker:
    """Knows one component, or refuses."""

    def __init__(self, code: str = FORECAST, *, refusal: ComponentNotMade | None = None, kept: bool = True) -> None:
        self.code, self.refusal, self.kept = code, refusal, kept
        self.asked: list[str] = []
        self.next_step = "Wait."

    async def generate(self, description: str) -> ProposedComponent:
        return ProposedComponent(self._checked(description), "proposal", datetime(2026, 11, 23, tzinfo=UTC), attempts=2)

    async def propose(self, code: str) -> ProposedComponent:
        return ProposedComponent(self._checked(code), "proposal", datetime(2026, 11, 23, tzinfo=UTC))

    async def save(self, code: str, proposal_id: str) -> SavedComponent:
        return SavedComponent(self._checked(code), stored=self.kept, not_kept="" if self.kept else "The disk is full.")

    def _checked(self, asked: str) -> CheckedComponent:
        self.asked.append(asked)
        if self.refusal is not None:
            raise self.refusal
        module = ModuleType("own")
        exec(self.code, module.__dict__)
        template = Template.model_validate(describe(module, {})["template"])
        return CheckedComponent(self.code, template, derive_manifest(self.code), "Not tried: it asks the network.")


def bench_with(maker: Maker | None) -> Workbench:
    overlay = Overlay(REGISTRY, INDEX)
    return Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=Flow(), registry=overlay, maker=maker)


async def called(bench: Workbench, name: str, **arguments: str) -> Result:
    return await next(tool for tool in TOOLS if tool.name == name).call(bench, arguments)


class TestGenerateComponent:
    async def test_tells_what_was_made_and_what_the_operator_must_allow(self) -> None:
        maker = Maker()
        answer = await called(bench_with(maker), "generate_component", description="The weather of a city.")
        assert answer["ok"] is True
        assert (answer["class_name"], answer["tool_name"], answer["attempts"]) == ("Forecast", "forecast", 2)
        assert [one["name"] for one in answer["inputs"]] == ["city"]  # type: ignore[union-attr, index, call-overload]
        assert [one["name"] for one in answer["outputs"]] == ["run"]  # type: ignore[union-attr, index, call-overload]
        reach = {"imports": ["headgate", "typing"], "hosts": ["api.example.org"], "files": False, "secrets": []}
        assert answer["reach"] == reach
        assert (answer["proposal_id"], answer["stored"], answer["next"]) == ("proposal", False, "Wait.")
        assert answer["operator_must_allow"] == ["api.example.org"]
        assert answer["setting"] == 'HEADGATE_SANDBOX__HOSTS=["api.example.org"]'
        assert answer["test"] == "Not tried: it asks the network."
        assert maker.asked == ["The weather of a city."]

    async def test_proposes_it_and_nothing_changes_before_the_user_decides(self) -> None:
        bench, actions = bench_with(Maker()), list[Action]()
        bench.on_action = actions.append
        await called(bench, "generate_component", description="The weather.")
        (action,) = actions
        assert (action["action"], action["code"], action["class_name"]) == ("propose_component", FORECAST, "Forecast")
        assert (await called(bench, "describe_component", component_type="Forecast"))["ok"] is False
        refused = await called(bench, "add_component", component_type="ChatInput")
        assert refused["error"] == "The component you proposed is waiting for the user."
        assert bench.flow == Flow()

    async def test_that_was_saved_is_in_the_requests_catalogue(self) -> None:
        bench = bench_with(Maker())
        assert (await called(bench, "describe_component", component_type="Forecast"))["ok"] is False
        answer = await register_component(bench, FORECAST, "proposal")
        assert answer == {"ok": True, "class_name": "Forecast", "kept": True}
        assert (await called(bench, "describe_component", component_type="Forecast"))["ok"] is True
        found = await called(bench, "search_components", query="weather of a city")
        assert found["components"][0]["type"] == "Forecast"  # type: ignore[index, call-overload]
        await called(bench, "add_component", component_type="Forecast")
        assert bench.flow.nodes[-1].code == FORECAST

    async def test_says_when_later_requests_will_not_find_it(self) -> None:
        answer = await register_component(bench_with(Maker(kept=False)), FORECAST, "proposal")
        assert (answer["ok"], answer["kept"], answer["not_kept"]) == (True, False, "The disk is full.")

    @pytest.mark.parametrize("description", ["", "  \n", "x" * (MAX_DESCRIPTION_CHARS + 1)])
    async def test_refuses_descriptions_that_describe_nothing(self, description: str) -> None:
        maker = Maker()
        answer = await called(bench_with(maker), "generate_component", description=description)
        assert (answer["ok"], answer["code"]) == (False, "tool_refused")
        assert maker.asked == []


class TestProposeComponent:
    async def test_tells_every_finding_and_how_to_correct_it(self) -> None:
        refusal = ComponentNotMade("Line 3: no (1 more)", remedy="Use Python.", findings=FINDINGS)
        bench = bench_with(Maker(refusal=refusal))
        before = bench.registry
        answer = await called(bench, "propose_component", code="class A: ...")
        assert (answer["ok"], answer["code"], answer["findings"]) == (False, "component_not_made", FINDINGS)
        assert answer["error"] == "Line 3: no (1 more)"
        assert bench.registry is before

    async def test_answers_like_a_component_that_was_generated(self) -> None:
        answer = await called(bench_with(Maker()), "propose_component", code=FORECAST)
        assert (answer["class_name"], answer["attempts"]) == ("Forecast", 1)


class TestOffered:
    def test_only_where_components_can_be_made_by_who_may_edit(self) -> None:
        def offered(bench: Workbench) -> set[str]:
            return {tool.name for tool in tools_for(bench)} & {"generate_component", "propose_component"}

        assert len(offered(bench_with(Maker()))) == 2
        assert offered(bench_with(None)) == set()
        viewer = bench_with(Maker())
        viewer.principal = replace(LOCAL, access=Access())
        assert offered(viewer) == set()

    async def test_refuses_where_there_is_no_maker(self) -> None:
        answer = await called(bench_with(None), "propose_component", code=FORECAST)
        assert answer["ok"] is False
