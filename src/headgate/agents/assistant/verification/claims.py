"""Compares each sentence of an answer that reports a change, a run or a number with what happened in the turn.

The model's words are never changed: a note is shown next to them. The words of a claim are those of English and
Swedish, the languages of the page; an answer in another language gets no note, and what was done is listed next to it
anyway. What is compared:

- a change: its kind (added, removed, connected, renamed, ...) happened, and to the things that the sentence names;
- a run: there was one;
- the number of nodes of the flow, and, in a turn that ran a flow, every number that is reported.
"""

import re
from collections.abc import Iterator

from headgate.agents.assistant.verification import happened as kinds
from headgate.agents.assistant.verification.happened import Happened

_GROUPED = r"\d{1,3}(?:[ ,.\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
_PLAIN = r"\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"(?<![\w.,:#/-])(?:{_GROUPED}|{_PLAIN})(?![\w:/-])")
_IN_EVIDENCE = re.compile(r"\d[\d.,]*")
_SMALLEST = 10
"""Whole numbers up to this are counted and numbered freely; larger ones and decimals are results."""
_SCALES = (1.0, 100.0, 0.01, 0.001, 1000.0)
"""A share can be given in percent, milliseconds in seconds, and vice versa."""


def unknown_number(sentence: str, evidence: frozenset[float]) -> str:
    """The first number of a sentence that is in no evidence, however rounded; empty when there is none."""
    for match in _NUMBER.finditer(sentence):
        readings = list(_readings(match[0]))
        if all(value <= _SMALLEST and places == 0 for value, places in readings):
            continue
        if not any(_is_in(value, places, evidence) for value, places in readings):
            return match[0]
    return ""


def numbers_of(text: str) -> frozenset[float]:
    """Every number in a text, in each way it can be read."""
    return frozenset(value for match in _IN_EVIDENCE.finditer(text) for value, _ in _readings(match[0].strip(".,")))


def _is_in(value: float, places: int, evidence: frozenset[float]) -> bool:
    near = 0.5 * 10**-places * 1.000001
    return any(abs(known * scale - value) <= near for known in evidence for scale in _SCALES)


def _readings(written: str) -> Iterator[tuple[float, int]]:
    """The values that a written number can have, and the places after its decimal sign."""
    plain = re.sub(r"[ \u00a0\u202f]", "", written)
    for grouping, decimal in ((",", "."), (".", ",")):
        candidate = plain.replace(grouping, "").replace(decimal, ".")
        try:
            yield float(candidate), len(candidate.partition(".")[2])
        except ValueError:
            continue


_ADD = r"added|inserted|lagt till|lade till"
_CREATE = r"created|built|generated|skapat|skapade|byggt|byggde"
_CONNECT = r"connected|wired|kopplat|kopplade"
_DISCONNECT = r"disconnected|kopplat loss|kopplade loss"
_REMOVE = r"removed|deleted|tagit bort|tog bort|raderat|raderade"
_RENAME = r"renamed|döpt om|döpte om"
_WRITE = r"wrote|written|skrivit|skrev"
_SAVE = r"saved|registered|sparat|sparade|registrerat|registrerade"
_PROPOSE = r"proposed|föreslagit|föreslog"
_CHANGE = (
    r"configured|changed|updated|replaced|set up|moved|fixed|ställt in|ställde in|ändrat|ändrade|uppdaterat|"
    r"uppdaterade|bytt|bytte|lagat|lagade"
)
_ANY = frozenset(
    {
        kinds.ADDED, kinds.REMOVED, kinds.CONNECTED, kinds.DISCONNECTED, kinds.CONFIGURED, kinds.RENAMED,
        kinds.PROPOSED, kinds.WRITTEN,
    }
)  # fmt: skip
_VERBS: tuple[tuple[str, frozenset[str]], ...] = (
    (_DISCONNECT, frozenset({kinds.DISCONNECTED, kinds.REMOVED})),
    (_ADD, frozenset({kinds.ADDED, kinds.WRITTEN, kinds.CONFIGURED, kinds.PROPOSED, kinds.CONNECTED})),
    (_CREATE, frozenset({kinds.ADDED, kinds.WRITTEN, kinds.PROPOSED})),
    (_CONNECT, frozenset({kinds.CONNECTED})),
    (_REMOVE, frozenset({kinds.REMOVED, kinds.DISCONNECTED, kinds.CONFIGURED, kinds.WRITTEN, kinds.PROPOSED})),
    (_RENAME, frozenset({kinds.RENAMED, kinds.CONFIGURED, kinds.PROPOSED})),
    (_WRITE, _ANY),
    (_PROPOSE, frozenset({kinds.PROPOSED, kinds.ADDED})),
    (_SAVE, _ANY - {kinds.PROPOSED}),
    (_CHANGE, _ANY),
)
"""Verbs and the kinds of change that each may stand for."""
_DONE = "|".join(verbs for verbs, _ in _VERBS)
_VERB = re.compile(
    "|".join(rf"(?P<v{number}>\b(?:{verbs})\b)" for number, (verbs, _) in enumerate(_VERBS)), re.IGNORECASE
)
_SAYER = r"(?:i|we|i've|we've|i have|we have|jag|vi|jag har|vi har)"
_ADVERB = r"(?: (?:now|just|also|already|successfully|nu|även|också|redan))*"
_CHANGED = re.compile(
    rf"^(?:[*#-]+ )?(?:{_DONE})\b"
    rf"|\b{_SAYER}{_ADVERB} (?:{_DONE})\b"
    rf"|\b(?:has|have|was|were|har|blev){_ADVERB} (?:been )?(?:{_DONE})\b"
    rf"|\b(?:is|are){_ADVERB} (?:added|connected|configured|created|built|removed) (?:to|now|in|from)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:has|have|was|were|is|are|been|blev|har)\b[^.]{0,30}$", re.IGNORECASE)
_SUBJECT = re.compile(rf"\b{_SAYER}{_ADVERB} ?$", re.IGNORECASE)
_RAN = re.compile(
    rf"\b{_SAYER}{_ADVERB} (?:ran|executed|tested|körde|kört|testade|testat) (?:the|your|this|it|flödet|det)\b"
    rf"|\b(?:i've|we've|i have|we have){_ADVERB} run (?:the|your|this|it)\b"
    r"|\bthe (?:flow|run) (?:ran|was run|completed|finished|executed)\b"
    r"|\bflödet (?:kördes|har körts|testades)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:not|nothing|no changes|could not|couldn't|cannot|can't|unable|failed|inte|ingenting|inga|kunde inte|"
    r"misslyckades)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"`([^`\n]{1,80})`|\"([\w .-]{1,60})\"|\b([A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[\w-]+\.[a-z]{1,5})\b"
)
_AWAY = re.compile(
    r"\b(?:to|in|into|from|after|before|between|with|as|so|for|on|till|i|från|efter|före|mellan|med|som)\b"
)
_AND = re.compile(r"\b(?:and|och)\b|[;,]")
_NODES = re.compile(
    r"\b(?:flow|flödet)\b[^.!?]{0,40}?\b(?:has|contains|with|har|innehåller)\b[^.!?\d]{0,20}(\d+)"
    r"(?: \w+)? (?:nodes?|components?|noder|komponenter)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

LONGEST_READ = 20_000
"""Characters of an answer that are searched."""
LONGEST_QUOTED = 120
MOST_NOTES = 5
NOTHING_CHANGED = "Nothing was changed, written or proposed in this turn, whatever the answer says."
NOT_RUN = "The flow was not run in this turn, whatever the answer says."


def false_claims(answer: str, happened: Happened) -> list[str]:
    """A note for each thing that the answer reports and that did not happen."""
    plain = (" ".join(sentence.split()) for sentence in _SENTENCE.split(answer[:LONGEST_READ]))
    sentences = [sentence for sentence in plain if sentence]
    claims = [sentence for sentence in sentences if not _REFUSES.search(sentence)]
    notes = list(_false_changes([claim for claim in claims if _CHANGED.search(claim)], happened))
    if not happened.ran and any(_RAN.search(claim) for claim in claims):
        notes.append(NOT_RUN)
    notes += _false_numbers(sentences, happened)
    return list(dict.fromkeys(notes))[:MOST_NOTES]


def _false_changes(claims: list[str], happened: Happened) -> Iterator[str]:
    if claims and not happened.changed:
        yield NOTHING_CHANGED
        return
    for sentence in claims:
        for verb, what, allowed in _reported(sentence):
            if not _is_done(what, allowed, happened):
                quoted = _shortened(f"{verb} {', '.join(what)}" if what else sentence)
                yield f'The answer says "{quoted}", and no such change was made in this turn.'


def _reported(sentence: str) -> Iterator[tuple[str, list[str], frozenset[str]]]:
    """Each change that a sentence reports: the verb, the names of what was changed, the kinds it may be."""
    verbs = list(_VERB.finditer(sentence))
    for number, match in enumerate(verbs):
        before = sentence[verbs[number - 1].end() if number else 0 : match.start()]
        after = sentence[match.end() : verbs[number + 1].start() if number + 1 < len(verbs) else len(sentence)]
        passive = _PASSIVE.search(before) is not None and _SUBJECT.search(before) is None
        if passive and number:
            before = _AND.split(before)[-1]
        about = before if passive else _AWAY.split(after, maxsplit=1)[0]
        names = [next(filter(None, match.groups())) for match in _NAMED.finditer(about)]
        yield match[0], names, _VERBS[int(str(match.lastgroup)[1:])][1]


def _is_done(what: list[str], allowed: frozenset[str], happened: Happened) -> bool:
    """Whether a change of such a kind was made, to everything that is named and known."""
    made = [names for kind, names in happened.changes.items() if kind in allowed]
    if not made:
        return False
    touched = frozenset[str]().union(*made)
    return all(name.lower() in touched for name in what if name.lower() in happened.known)


def _false_numbers(sentences: list[str], happened: Happened) -> Iterator[str]:
    evidence = numbers_of(happened.evidence) if happened.evidence else frozenset()
    for sentence in sentences:
        counted = _NODES.search(sentence)
        if counted and happened.nodes and int(counted[1]) not in happened.nodes:
            numbers = " and ".join(map(str, sorted(happened.nodes)))
            yield f'The answer says "{_shortened(sentence)}", but the flow has {numbers} nodes.'
        elif happened.evidence and (number := unknown_number(sentence, evidence)):
            yield f'The number {number} in "{_shortened(sentence)}" is in no result of this turn.'


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}..."
