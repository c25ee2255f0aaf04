"""Where components are made: what the assistant and the MCP server need to have new ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.generation.pipeline import DEFAULT_MAX_RETRIES, ComponentChecker, Generation
from headgate.agents.assistant.turn.turn import Turn
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.toolkit.ports import MadeComponent

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True)
class Workshop:
    """The workshop of an installation; holds nothing of any request.

    `components.own_components(principal, flow)` opens a turn's overlay, `maker(turn, model)` is its bench's maker.
    """

    components: PersonalComponents
    checker: ComponentChecker

    def maker(
        self, turn: Turn, model: "Callable[[], BaseChatModel]", *, max_retries: int = DEFAULT_MAX_RETRIES
    ) -> "TurnMaker":
        """Makes components in a turn; see `TurnMaker`."""
        return TurnMaker(turn, model, self, max_retries)

    async def register(self, principal: Principal, code: str) -> MadeComponent:
        """Check code that somebody wrote, and keep it. Raises `ComponentNotMade`, and what `keep` raises."""
        return await self.keep(principal, await self.checker.check(principal.tenant_id, code))

    async def keep(self, principal: Principal, checked: CheckedComponent, attempts: int = 1) -> MadeComponent:
        """Keep a component that passed its checks. Raises `UserComponentError` of the disk."""
        refused = await self.components.keep(principal, checked)
        return MadeComponent(checked, attempts, kept=not refused, not_kept=refused)


@dataclass(slots=True)
class TurnMaker:
    """The toolkit's `ComponentMaker` for one turn: the turn's model writes, the turn's page is told.

    Args:
        turn: Whose request it is; its bench need not know of this maker yet.
        model: The model of the turn as it is when a component is asked for: another one may have taken its place.
        workshop: Where components are checked and kept.
        max_retries: Attempts in total.
    """

    turn: Turn
    model: "Callable[[], BaseChatModel]"
    workshop: Workshop
    max_retries: int = DEFAULT_MAX_RETRIES

    async def generate(self, description: str) -> MadeComponent:
        """Let the model write it. Raises what `Generation.generate` raises, and `UserComponentError` of the disk."""
        generation = Generation(self.model(), self.workshop.checker, self.turn, self.max_retries)
        made = await generation.generate(description)
        return await self.workshop.keep(self.turn.principal, made.checked, made.attempts)

    async def register(self, code: str) -> MadeComponent:
        """Check code that somebody wrote. Raises `ComponentNotMade` with every finding."""
        self.turn.stage("validating")
        made = await self.workshop.register(self.turn.principal, code)
        self.turn.stage("validated", class_name=made.checked.type, component_code=made.checked.code)
        return made
