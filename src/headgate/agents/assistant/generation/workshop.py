"""Where components are made: what the assistant and the MCP server need to have new ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.agents.assistant.generation.maker import TurnMaker
from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.generation.pipeline import DEFAULT_MAX_RETRIES, ComponentChecker
from headgate.agents.assistant.turn.turn import Turn

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
    ) -> TurnMaker:
        """Makes components in a turn; see `TurnMaker`."""
        return TurnMaker(turn, model, self.checker, self.components, max_retries)
