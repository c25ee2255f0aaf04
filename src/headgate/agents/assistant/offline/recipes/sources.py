"""What a flow starts from, said on its own: `from the csv I upload`."""

from headgate.agents.assistant.offline.build.work import Work
from headgate.agents.assistant.offline.recipe import Slots, Step


def _mentioned(_work: Work, _slots: Slots) -> None:
    """The source is taken from the slots of all phrases before anything is built."""


SOURCES: dict[str, Step] = {
    "source": Step("source", "any", _mentioned),
}  # fmt: skip
__all__ = ["SOURCES"]
