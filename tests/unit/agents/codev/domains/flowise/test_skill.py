"""What models are told of Flowise: every phase, in the grammar that is read, with examples that work."""

import json
import re

import pytest

from headgate.agents.codev.domain import Phase
from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.assembly import assemble, is_agentflow
from headgate.agents.codev.domains.flowise.domain import FALLBACK
from headgate.agents.codev.domains.flowise.preflight import faults_of
from headgate.agents.codev.domains.flowise.spec import read_spec
from headgate.agents.codev.skills.loader import load_skill
from tests.support.flowise_recordings import CREDENTIAL, schemas

SKILL = load_skill("flowise_builder", {})
EXAMPLES = re.findall(r"```json\n(.*?)```", SKILL[Phase.PATCH], re.DOTALL)
CREDENTIALS = [StoredCredential(CREDENTIAL, "fake-openai2", "openAIApi")]


class TestSkill:
    def test_says_something_of_every_phase(self) -> None:
        assert all(SKILL[phase].startswith(("You", "Write", "1.")) for phase in Phase)
        assert set(FALLBACK) == set(Phase)

    def test_leaves_the_ending_of_a_discovery_to_the_prompt(self) -> None:
        assert "CREDENTIALS_STATUS" not in "".join(SKILL.values())
        assert "`openAIApi`" in SKILL[Phase.DISCOVER]

    def test_has_examples_of_both_kinds(self) -> None:
        kinds = [is_agentflow(read_spec(json.loads(one)), schemas()) for one in EXAMPLES]
        assert kinds == [False, True, True]

    @pytest.mark.parametrize("example", EXAMPLES)
    def test_examples_can_be_written(self, example: str) -> None:
        flow = assemble(read_spec(json.loads(example)), schemas(), CREDENTIALS)
        assert faults_of(flow, schemas(), CREDENTIALS) == []

    def test_names_components_that_there_are(self) -> None:
        said = set(re.findall(r"`(\w+(?:Agentflow|Function|Chain|OpenAI))`", "".join(SKILL.values())))
        assert said <= schemas().keys()
        assert len(said) >= 6
