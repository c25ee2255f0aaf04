"""Makes components for one turn: the toolkit's `ComponentMaker`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.generation.pipeline import DEFAULT_MAX_RETRIES, ComponentChecker, Generation
from headgate.agents.assistant.turn.turn import Turn
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.toolkit.workbench import MadeComponent

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel


@dataclass(slots=True)
class TurnMaker:
    """Writes with the turn's model, checks in the sandbox, keeps for the turn's person.

    Args:
        turn: Whose request it is; its bench need not know of this maker yet.
        model: The model of the turn as it is when a component is asked for: another one may have taken its place.
        checker: Who checks.
        components: Where what passed is kept.
        max_retries: Attempts in total.
    """

    turn: Turn
    model: "Callable[[], BaseChatModel]"
    checker: ComponentChecker
    components: PersonalComponents
    max_retries: int = DEFAULT_MAX_RETRIES

    async def generate(self, description: str) -> MadeComponent:
        """Let the model write it. Raises what `Generation.generate` raises, and `UserComponentError` of the disk."""
        generation = Generation(self.model(), self.checker, self.turn, self.max_retries)
        made = await generation.generate(description)
        return await self._kept(made.checked, made.attempts)

    async def register(self, code: str) -> MadeComponent:
        """Check code that somebody wrote. Raises `ComponentNotMade` with every finding."""
        self.turn.stage("validating")
        checked = await self.checker.check(self.turn.principal.tenant_id, code)
        self.turn.stage("validated", class_name=checked.type, component_code=checked.code)
        return await self._kept(checked, 1)

    async def _kept(self, checked: CheckedComponent, attempts: int) -> MadeComponent:
        refused = await self.components.keep(self.turn.principal, checked)
        return MadeComponent(checked, attempts, kept=not refused, not_kept=refused)
