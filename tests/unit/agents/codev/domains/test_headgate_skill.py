"""What the development agent is told of our flows is true: every example is built, and its tests can be read."""

import re

import pytest

from headgate.agents.codev.domain import Phase
from headgate.agents.codev.domains.headgate.domain import FALLBACK, load_knowledge
from headgate.agents.codev.workflow.reading import read_plan
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.cases import Outcome, misses
from headgate.graph.links import StepDefaults, effective, link
from headgate.graph.spec import read_spec
from headgate.graph.validate import check_runnable

KNOWN = load_knowledge(None)
CATALOG = Registry(BUILTINS)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([A-Z][A-Za-z]+)`")


def blocks(kind: str) -> list[str]:
    return [body for text in KNOWN.values() for name, body in FENCE.findall(text) if name == kind]


class TestTheSkill:
    @pytest.mark.parametrize("phase", Phase)
    def test_says_something_of_its_own_in_each_phase(self, phase: Phase) -> None:
        assert len(KNOWN[phase]) > 2 * len(FALLBACK[phase])

    def test_has_examples(self) -> None:
        assert len(blocks("flow")) >= 3
        assert len(blocks("tests")) == 1

    @pytest.mark.parametrize("spec", blocks("flow"))
    def test_every_flow_in_it_is_built_and_could_run(self, spec: str) -> None:
        defaults = StepDefaults(model={"provider": "openai", "name": "gpt-5-mini"})
        assert check_runnable(effective(link(read_spec(spec, CATALOG), CATALOG, defaults)), CATALOG) == []

    def test_its_test_cases_are_read_and_can_fail(self) -> None:
        planned = read_plan(KNOWN[Phase.PLAN])
        assert planned.fault == ""
        assert len(planned.cases) >= 3
        assert all(misses(case.expect, Outcome("")) for case in planned.cases)

    def test_leaves_the_ending_of_a_discovery_to_the_prompt(self) -> None:
        assert "CREDENTIALS_STATUS" not in "".join(KNOWN.values())
        assert "`CRM_TOKEN`" in KNOWN[Phase.DISCOVER]

    def test_names_only_components_that_are_there(self) -> None:
        named = {name for text in KNOWN.values() for name in _NAMED.findall(text)}
        assert named - {"Discover", "Plan", "Patch", "Test", "Authorization"} <= set(CATALOG.types())
        assert len(named) > 20

    def test_is_short_enough_to_stand_in_every_request(self) -> None:
        assert max(len(text) for text in KNOWN.values()) < 8_000
