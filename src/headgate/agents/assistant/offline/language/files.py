"""Reads the files of a language. A line that begins with spaces continues the one before."""

from functools import lru_cache
from importlib.resources import files

from headgate.agents.assistant.offline.language.languages import LIGHT, Language


@lru_cache(maxsize=32)
def lines_of(language: Language, name: str) -> tuple[str, ...]:
    """The lines of a file, whole, without empty ones and comments."""
    text = (files("headgate.agents.assistant.offline.language") / language / f"{name}.txt").read_text(encoding="utf-8")
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(" ") and lines:
            lines[-1] += " " + line.strip()
        elif line.strip() and not line.startswith("#"):
            lines.append(line.strip())
    return tuple(lines)


def entries(language: Language, name: str) -> list[tuple[str, list[str]]]:
    """The parts of a file that begin with `[key]`: the key and the lines."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines_of(language, name):
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier() and "<" not in line:
            parts.append((line[1:-1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


@lru_cache(maxsize=8)
def pairs(language: Language, name: str) -> list[tuple[str, str]]:
    """The lines `key: value` of a file."""
    return [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines_of(language, name))]


@lru_cache(maxsize=2)
def classes(language: Language) -> dict[str, tuple[str, ...]]:
    """The sets of words that mean the same in a pattern, without the light words; longer ones first."""
    light = LIGHT[language]
    found = {}
    for name, words in pairs(language, "words"):
        phrases = {" ".join(word for word in phrase.split() if word not in light) for phrase in words.split(",")}
        found[name] = tuple(sorted(phrases - {""}, key=len, reverse=True))
    return found
