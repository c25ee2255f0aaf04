"""A chat model outside of runs that answers what a test wants."""

from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.features.access.principal import Principal
from headgate.features.models.asking import Asked


@dataclass
class ScriptedAsker:
    """An `Asker` whose answers are made from the text that it is asked."""

    answer: Callable[[str], str] = lambda _text: ""
    cleared_for: int | None = None
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Space, model and text of each question."""

    async def ask(self, principal: Principal, model: str, *, system: str, text: str) -> Asked:
        assert system
        self.asked.append((principal.space_id, model, text))
        return Asked(self.answer(text), 7)

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        assert tenant_id
        return self.cleared_for
