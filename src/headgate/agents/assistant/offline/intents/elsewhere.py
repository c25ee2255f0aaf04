"""Requests that are clear but not for the offline builder: new components, files of the workspace."""

from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.agents.assistant.offline.replies import CONNECT, NAME
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow

_MAKING = word_set("create write generate make build develop code program implement design skapa skriv bygg")
_NEW = frozenset(["component", "komponent"])
_PLACES = word_set("workspace folder directory arbetsyta arbetsytan mapp mappen")
_FILE_VERBS = word_set("delete remove rename move copy list show open edit read create ta radera")


def other_request(reading: Reading, index: CatalogueIndex, flow: Flow) -> Understanding | None:
    """An honest answer to a request that takes a model or is not offered yet; None when it is another kind."""
    words = [token.word for token in reading.tokens]
    if _wants_component(words):
        return Understanding("generate_component", _component_reply(reading, index), coverage=1.0)
    if _wants_files(reading, words, flow):
        text = (
            f"Files of the workspace are not offered by the {NAME}. A flow can read a file that is uploaded for a run"
            " and save files as its result."
        )
        return Understanding("manage_files", text, coverage=1.0)
    return None


def _wants_component(words: list[str]) -> bool:
    """`write a component that ...`; `add a component` names one that exists."""
    for at, word in enumerate(words):
        if word in _MAKING and any(near in _NEW for near in words[at + 1 : at + 6]):
            named = next(n for n in range(at + 1, at + 6) if words[n] in _NEW)
            return named + 1 < len(words) and words[named + 1] in {
                "that",
                "which",
                "to",
                "for",
                "called",
                "som",
                "computing",
                "with",
            }
    return False


def _component_reply(reading: Reading, index: CatalogueIndex) -> str:
    query = " ".join(reading.meant(at) for at in range(len(reading)) if reading.is_content(at))
    near = [template.type for template in index.templates(query, 3)]
    there = f" These come near: {', '.join(near)}." if near else ""
    return f"Writing a new component takes a language model; I am the {NAME}.{there}\n\n{CONNECT}"


def _wants_files(reading: Reading, words: list[str], flow: Flow) -> bool:
    if set(words) & _PLACES:
        return True
    named = any(token.kind is Kind.FILE for token in reading.tokens)
    saved = {str(node.params.get("name")) for node in flow.nodes}
    own = any(token.text in saved for token in reading.tokens)
    first = next((word for at, word in enumerate(words) if not reading.is_light(at)), "")
    return named and not own and first in {"delete", "remove", "rename", "move", "copy", "radera"} and len(words) < 8
