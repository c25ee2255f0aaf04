"""All recipes, by what they are for."""

from headgate.agents.assistant.offline.build.work import Work
from headgate.agents.assistant.offline.recipe import Recipe, Slots, Step, recipes_of
from headgate.agents.assistant.offline.recipes.decisions import DECISIONS
from headgate.agents.assistant.offline.recipes.edits import EDITS as _EDITS
from headgate.agents.assistant.offline.recipes.edits import PLACED
from headgate.agents.assistant.offline.recipes.edits import RUNS as _RUNS
from headgate.agents.assistant.offline.recipes.outside import OUTSIDE
from headgate.agents.assistant.offline.recipes.running import AROUND, STEPS
from headgate.agents.assistant.offline.recipes.tables import TABLES
from headgate.agents.assistant.offline.recipes.texts import TEXTS


def _mentioned(_work: Work, _slots: Slots) -> None:
    """The source is taken from the slots of all phrases before anything is built."""


SOURCES: dict[str, Step] = {"source": Step("source", "any", _mentioned)}
LIMITS: tuple[Recipe, ...] = recipes_of("running", AROUND)
"""What is said about steps and about the flow, of a new one and of the one at hand."""
BUILDING: tuple[Recipe, ...] = (
    *recipes_of("sources", SOURCES),
    *recipes_of("tables", TABLES),
    *recipes_of("texts", TEXTS),
    *recipes_of("decisions", DECISIONS),
    *recipes_of("outside", OUTSIDE),
    *recipes_of("running", STEPS),
    *LIMITS,
)
"""What a flow is built of."""
EDITS: tuple[Recipe, ...] = (
    *recipes_of("edits", _EDITS),
    *recipes_of("running", PLACED),
    *LIMITS,
)
"""What changes the flow at hand."""
RUNS: tuple[Recipe, ...] = recipes_of("edits", _RUNS)
