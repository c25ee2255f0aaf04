"""The prompts of each phase, and the playbook of repairs (DD-038): the Markdown files in this folder."""

import re
from functools import lru_cache
from pathlib import Path

from headgate.agents.codev.domain import Phase, Workplace
from headgate.agents.codev.state import Category

_HERE = Path(__file__).parent
_ENTRY = re.compile(r"^## ([A-Z]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_KNOWLEDGE: dict[str, Phase] = {
    "discover": Phase.DISCOVER,
    "plan": Phase.PLAN,
    "patch": Phase.PATCH,
    "converge": Phase.TEST,
}


def system(name: str, workplace: Workplace) -> str:
    """The system prompt of a phase: the rules, the phase, and what is known of the place."""
    phase = _KNOWLEDGE.get(name)
    knowledge = workplace.knowledge(phase).strip() if phase is not None else ""
    parts = [_text("base"), _text(name), f"# What is known of this place\n\n{knowledge}" if knowledge else ""]
    return "\n\n".join(part.strip() for part in parts if part)


def playbook(domain: str, category: Category) -> str:
    """What to do about a kind of failure, in the words of the domain; of an unknown domain in general."""
    name = f"playbook_{domain}" if domain in {"headgate", "flowise"} else "playbook"
    return _entries(name)[category]


@lru_cache(maxsize=8)
def _entries(name: str) -> dict[str, str]:
    return {title: words.strip() for title, words in _ENTRY.findall(_text(name))}


@lru_cache(maxsize=16)
def _text(name: str) -> str:
    return (_HERE / f"{name}.md").read_text(encoding="utf-8")
