"""Compares what an answer says was done with what was done, in the plain case: it claims something, nothing happened.

The model's words are never changed: a note stands beside them. The words of a claim are those of English and Swedish,
the languages of the page; an answer in another language gets no note, and what was done is listed beside it anyway.
"""

import re
from dataclasses import dataclass

_DONE_EN = (
    r"added|created|built|connected|disconnected|removed|deleted|configured|changed|updated|renamed|replaced|set up|"
    r"wired|inserted|moved|fixed|saved|wrote|written|proposed|registered|generated"
)
_DONE_SV = (
    r"lagt till|lade till|skapat|skapade|byggt|byggde|kopplat|kopplade|tagit bort|tog bort|raderat|raderade|ställt in|"
    r"ställde in|ändrat|ändrade|uppdaterat|uppdaterade|bytt|bytte|döpt om|döpte om|lagat|lagade|"
    r"skrivit|skrev|sparat|sparade|föreslagit|föreslog"
)
_SAYER = r"(?:i|we|i've|we've|i have|we have|jag|vi|jag har|vi har)"
_ADVERB = r"(?: (?:now|just|also|already|successfully|nu|även|också|redan))*"
_CHANGED = re.compile(
    rf"^(?:[*#-]+ )?(?:{_DONE_EN}|{_DONE_SV})\b"
    rf"|\b{_SAYER}{_ADVERB} (?:{_DONE_EN}|{_DONE_SV})\b"
    rf"|\b(?:has|have|was|were){_ADVERB} (?:been )?(?:{_DONE_EN})\b"
    rf"|\b(?:is|are){_ADVERB} (?:added|connected|configured|created|built|removed) (?:to|now|in|from)\b",
    re.IGNORECASE,
)
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
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

LONGEST_READ = 20_000
"""Characters of an answer that are looked at."""
NOTHING_CHANGED = "Nothing was changed, written or proposed in this turn, whatever the answer says."
NOT_RUN = "The flow was not run in this turn, whatever the answer says."


@dataclass(frozen=True, slots=True)
class Happened:
    """What a turn came to, in so far as an answer could claim it."""

    changed: bool = False
    """Whether the flow changed, an edit or a plan was proposed, a file was written or a component made."""
    ran: bool = False


def false_claims(answer: str, happened: Happened) -> list[str]:
    """A note for each thing that the answer says was done while nothing of the kind happened."""
    plain = (" ".join(one.split()) for one in _SENTENCE.split(answer[:LONGEST_READ]))
    sentences = [one for one in plain if one and not _REFUSES.search(one)]
    notes = []
    if not happened.changed and any(_CHANGED.search(one) for one in sentences):
        notes.append(NOTHING_CHANGED)
    if not happened.ran and any(_RAN.search(one) for one in sentences):
        notes.append(NOT_RUN)
    return notes
