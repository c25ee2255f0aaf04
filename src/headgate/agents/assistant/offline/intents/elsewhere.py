"""Requests that are clear but are no flow: files of the workspace, taking back, new components."""

from headgate.agents.assistant.offline.files.requests import file_request
from headgate.agents.assistant.offline.files.telling import UNDO
from headgate.agents.assistant.offline.files.wording import pattern
from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.agents.assistant.offline.replies import CONNECT, NAME
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow

_MAKING = word_set(
    "create write generate make build develop code program implement design skapa skriv bygg utveckla need want behöver"
)
_NEW = word_set("component komponent komponenten")
_WHAT_FOR = word_set("that which to for called named som computing with doing för kallad")
_HELPERS = _MAKING | _NEW | word_set("new own custom python ny egen")
_PLACES = word_set("workspace folder directory arbetsyta arbetsytan mapp mappen")
_FILE_VERBS = word_set("delete remove rename move copy radera")
_UNDO = pattern(
    r"{please}(?:undo|revert|take back|take it back|ångra|ångra dig|gör ogjort|gör (?:det|detta) ogjort)"
    r"(?: (?:that|it|this|det|detta|everything|allt|(?:the |your |my |den |det )?(?:last|latest|previous|senaste|sista)"
    r"(?: (?:change|changes|edit|step|thing|one|ändringen|steget))?))?"
    r"(?: (?:that )?(?:you|we|i|du|jag) (?:did|made|gjorde))?{end}"
)


def other_request(reading: Reading, text: str, index: CatalogueIndex, flow: Flow) -> Understanding | None:
    """What to do about a request that is about no flow; None when it is another kind."""
    found = file_request(text, flow, index.catalog)
    if found is not None:
        return found
    if _UNDO.fullmatch(text[:200]):
        return Understanding("edit_flow", "", (Action(UNDO),), coverage=1.0)
    words = [token.word for token in reading.tokens]
    if _wants_component(words):
        return _component(reading)
    if _wants_files(reading, words, flow):
        return Understanding("manage_files", _NO_TOOL, coverage=1.0)
    return None


_NO_TOOL = (
    f'The {NAME} cannot do that with files. It can write a file ("write a file notes.md saying ..."), document this'
    ' flow in one, read one, list them ("show my files"), search them ("find \'x\' in my files") and replace text in'
    " one. `headgate workspace remove PATH` removes a file. Files that a run makes are kept with the run."
)


def _wants_component(words: list[str]) -> bool:
    """`write a component that ...`; `add a component` names one that exists."""
    for at, word in enumerate(words):
        named = next((n for n in range(at + 1, min(at + 6, len(words))) if words[n] in _NEW), None)
        if word in _MAKING and named is not None:
            return words[named + 1 : named + 2] == [] or words[named + 1] in _WHAT_FOR
    return False


def _component(reading: Reading) -> Understanding:
    """No component is made; the search says which of those that there are comes near."""
    query = " ".join(
        reading.meant(at)
        for at in range(len(reading))
        if reading.is_content(at) and reading.tokens[at].word not in _HELPERS
    )
    reply = (
        f"Writing a component needs a language model, and I am the {NAME}: nothing was made. {CONNECT}"
        " `headgate models providers` shows which are ready and what the others lack."
    )
    search = (Action("search_components", {"query": query[:400]}),) if query else ()
    return Understanding("generate_component", reply, search, coverage=1.0)


def _wants_files(reading: Reading, words: list[str], flow: Flow) -> bool:
    if set(words) & _PLACES:
        return True
    named = any(token.kind is Kind.FILE for token in reading.tokens)
    saved = {str(node.params.get("name")) for node in flow.nodes}
    own = any(token.text in saved for token in reading.tokens)
    first = next((word for at, word in enumerate(words) if not reading.is_light(at)), "")
    return named and not own and first in _FILE_VERBS and len(words) < 8
