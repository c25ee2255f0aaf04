"""Rules of a `robots.txt` (RFC 9309): for our name, else for all; the longest matching rule decides. Pure."""

from dataclasses import dataclass
from urllib.parse import quote, unquote

AGENT = "headgate"
MOST_CHARACTERS = 500_000
MOST_RULES = 5_000
LONGEST_RULE = 1_000


@dataclass(frozen=True, slots=True)
class Rules:
    """Path patterns, and whether they allow."""

    rules: tuple[tuple[str, bool], ...] = ()

    def allow(self, path: str) -> bool:
        """Return whether a path with its query may be fetched."""
        if path == "/robots.txt":
            return True
        path = _normal(path)
        matching = [(len(pattern), allowed) for pattern, allowed in self.rules if _matches(pattern, path)]
        return max(matching, default=(0, True))[1]  # of two equally long rules, the one that allows


NOTHING = Rules((("/", False),))
"""Where the rules cannot be read, nothing may be fetched."""


def rules_of(text: str) -> Rules:
    """Return the rules for us. What cannot be understood is ignored."""
    groups: dict[str, list[tuple[str, bool]]] = {}
    agents, open_ = list[str](), False
    if len(text) > MOST_CHARACTERS:  # half a line would be another rule
        text = text[:MOST_CHARACTERS].rpartition("\n")[0]
    for line in text.replace("\r", "\n").split("\n"):
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if name == "user-agent":
            agents = [*agents, value.lower()] if open_ else [value.lower()]
            open_ = True
            for agent in agents:
                groups.setdefault(agent, [])
        elif name in {"allow", "disallow"}:
            open_ = False
            for agent in agents:
                if value and len(value) <= LONGEST_RULE and len(groups[agent]) < MOST_RULES:
                    groups[agent].append((_normal(value), name == "allow"))
    return Rules(tuple(groups.get(AGENT, groups.get("*", []))))


def _normal(path: str) -> str:
    """Return a path with the same escapes, however it was written."""
    return quote(unquote(path, errors="replace"), safe="/*$?&=;:@!'()+,~")


def _matches(pattern: str, path: str) -> bool:
    """Return whether a pattern with `*` and a final `$` matches the beginning of a path. Takes linear time a star."""
    ends = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not ends or path == first
    at = len(first)
    for piece in rest[:-1]:
        position = path.find(piece, at)
        if position < 0:
            return False
        at = position + len(piece)
    last = rest[-1]
    return path.endswith(last) and len(path) - len(last) >= at if ends else path.find(last, at) >= 0
