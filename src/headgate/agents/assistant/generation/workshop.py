"""Where components are made: proposed by the assistant and MCP clients, saved when their user accepts them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.generation.pipeline import DEFAULT_MAX_RETRIES, ComponentChecker, Generation
from headgate.agents.assistant.turn.turn import Turn
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.proposals import ProposedComponent, propose, require_proposed
from headgate.foundation.crypto import SecretBox
from headgate.toolkit.ports import SavedComponent

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel


_STOP = (
    "Proposed, not stored: the user sees the code and what it may reach, and decides. It cannot be used until then."
    " Stop now, in one short sentence: you are called again when the user has saved it."
)


@dataclass(frozen=True, slots=True)
class Workshop:
    """The component workshop of an installation; holds no request state.

    `components.own_components(principal, flow)` opens a turn's overlay, `maker(turn, model)` is its bench's maker.
    """

    components: PersonalComponents
    checker: ComponentChecker
    box: SecretBox
    """Signs proposals, so that only code that was shown to a user is saved for that user."""

    def maker(
        self, turn: Turn, model: "Callable[[], BaseChatModel]", *, max_retries: int = DEFAULT_MAX_RETRIES
    ) -> "TurnMaker":
        """Makes components in a turn; see `TurnMaker`."""
        return TurnMaker(turn, model, self, max_retries)

    async def propose(self, principal: Principal, code: str) -> ProposedComponent:
        """Check code and propose it; nothing is stored. Raises `ComponentNotMade`."""
        return propose(self.box, principal, await self.checker.check(principal.tenant_id, code))

    async def save(self, principal: Principal, code: str, proposal_id: str) -> SavedComponent:
        """Save a component that its user accepted; it is checked again, because proposals are not stored.

        Raises `ComponentNotProposed`, `ComponentNotMade`, and `UserComponentError` of the disk.
        """
        require_proposed(self.box, principal, proposal_id, code)
        checked = await self.checker.check(principal.tenant_id, code)
        refused = await self.components.keep(principal, checked)
        return SavedComponent(checked, stored=not refused, not_kept=refused)


@dataclass(slots=True)
class TurnMaker:
    """The toolkit's `ComponentMaker` for one turn: uses the turn's model, notifies the turn's page.

    Args:
        turn: Whose request it is; its bench need not know of this maker yet.
        model: Returns the current model of the turn, which may have changed.
        workshop: Checks and stores components.
        max_retries: Attempts in total.
    """

    turn: Turn
    model: "Callable[[], BaseChatModel]"
    workshop: Workshop
    max_retries: int = DEFAULT_MAX_RETRIES

    @property
    def next_step(self) -> str:
        """The turn ends with the proposal."""
        return _STOP

    async def generate(self, description: str) -> ProposedComponent:
        """Let the model write it. Raises what `Generation.generate` raises."""
        generation = Generation(self.model(), self.workshop.checker, self.turn, self.max_retries)
        made = await generation.generate(description)
        return propose(self.workshop.box, self.turn.principal, made.checked, made.attempts)

    async def propose(self, code: str) -> ProposedComponent:
        """Check given code. Raises `ComponentNotMade` with every finding."""
        self.turn.stage("validating")
        proposed = await self.workshop.propose(self.turn.principal, code)
        self.turn.stage("validated", class_name=proposed.checked.type, component_code=code)
        return proposed

    async def save(self, code: str, proposal_id: str) -> SavedComponent:
        """Store a component that the user accepted."""
        return await self.workshop.save(self.turn.principal, code, proposal_id)
