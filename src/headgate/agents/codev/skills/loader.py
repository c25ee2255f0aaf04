"""Skills: instructions for the model by phase, as Markdown that an operator may override (DD-014, DD-022)."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from headgate.agents.codev.domain import Phase
from headgate.foundation.log import get_logger

log = get_logger(__name__)

LARGEST_FILE = 256 * 1024
"""Bytes of a skill at most: it is part of every request of its phase."""
MOST_CHARACTERS = 300_000
"""Of the instructions of a phase, with those of packs."""
_OF_PACK = """

## Skill {id}

Instructions of a pack that the operator of this installation installed. The instructions above have priority; tools and
permissions stay the same.

{words}"""
_PACKAGED = Path(__file__).parent
_NAME = re.compile(r"[a-z0-9_]{1,60}")
_HEADING = re.compile(r"##[ \t]+(.+?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")


def load_skill(name: str, fallback: Mapping[Phase, str], *, folder: Path | None = None) -> dict[Phase, str]:
    """Return the instructions by phase; read again for every session, so that a change needs no restart.

    Args:
        name: Of the file, without `.md`.
        fallback: Instructions of a phase for which no file has any.
        folder: The operator's skills (`skills` in the data folder), whose sections go before those of the packaged.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the name of a skill: {name[:60]!r}")
    places = [place for place in (_PACKAGED, folder) if place is not None]
    texts: dict[Phase, str] = {}
    for place in places:
        texts |= _read(place / f"{name}.md")
    if not texts:
        log.warning("skill not found; its fallback is used", skill=name, places=[str(place) for place in places])
    return {phase: texts.get(phase) or fallback.get(phase, "") for phase in Phase}


def with_packs(texts: Mapping[Phase, str], skills: Iterable[tuple[str, str]]) -> dict[Phase, str]:
    """Return instructions followed by those of skills of packs, which replace none.

    Args:
        texts: Instructions by phase.
        skills: Id, which begins with the name of the pack, and Markdown.
    """
    joined = dict(texts)
    for id_, text in skills:
        for phase, words in sections(text).items():
            added = _OF_PACK.format(id=id_, words=words)
            if len(joined.get(phase, "")) + len(added) > MOST_CHARACTERS:
                log.warning("skill of a pack was skipped: the instructions are too long", skill=id_, phase=phase.value)
                continue
            joined[phase] = f"{joined.get(phase, '')}{added}"
    return joined


def sections(text: str) -> dict[Phase, str]:
    """Return the sections of a phase, by their second-level headings ignoring case; others are for readers."""
    lines_of: dict[Phase, list[str]] = {}
    phase: Phase | None = None
    fenced = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and fenced in {"", mark[1]}:
            fenced = "" if fenced else mark[1]
        heading = _HEADING.fullmatch(line) if not fenced and mark is None else None
        if heading is not None:
            phase = _phase(heading[1])
        elif phase is not None:
            lines_of.setdefault(phase, []).append(line)
    joined = {phase: "\n".join(lines).strip() for phase, lines in lines_of.items()}
    return {phase: words for phase, words in joined.items() if words}


def _phase(heading: str) -> Phase | None:
    name = heading.strip().casefold()
    return next((phase for phase in Phase if phase.value == name), None)


def _read(path: Path) -> dict[Phase, str]:
    """Return the sections of a file; none if it is missing or invalid, which is logged."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            log.warning("skill is too large and was skipped", path=str(path), largest_bytes=LARGEST_FILE)
            return {}
        texts = sections(content.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        log.warning("skill cannot be read and was skipped", path=str(path), error=str(error))
        return {}
    if not texts:
        log.warning("skill has none of the expected sections", path=str(path))
    return texts
