"""Reads the files of a language. A line that begins with spaces continues the one before."""

from functools import lru_cache
from importlib.resources import files
from typing import Literal

Language = Literal["en", "sv"]


@lru_cache(maxsize=32)
def lines_of(language: str, name: str) -> tuple[str, ...]:
    """The lines of a file, whole, without empty ones and comments."""
    text = (files("headgate.agents.assistant.offline.language") / language / f"{name}.txt").read_text(encoding="utf-8")
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(" ") and lines:
            lines[-1] += " " + line.strip()
        elif line.strip() and not line.startswith("# "):
            lines.append(line.strip())
    return tuple(lines)


def entries(language: str, name: str) -> list[tuple[str, list[str]]]:
    """The parts of a file that begin with `[key]`: the key and the lines."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines_of(language, name):
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            parts.append((line[1:-1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


@lru_cache(maxsize=16)
def pairs(language: str, name: str) -> list[tuple[str, str]]:
    """The lines `key: value` of a file."""
    return [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines_of(language, name))]


def values(name: str) -> dict[Language, tuple[str, ...]]:
    """The words of that name in `both/values.txt`, by language."""
    known = dict(pairs("both", "values"))
    return {language: tuple(known[f"{name}.{language}"].split(", ")) for language in LANGUAGES}


LANGUAGES: tuple[Language, ...] = ("en", "sv")
LIGHT: dict[Language, frozenset[str]] = {language: frozenset(words) for language, words in values("light").items()}


@lru_cache(maxsize=2)
def classes(language: Language) -> dict[str, tuple[str, ...]]:
    """The sets of words that mean the same in a pattern, without the light words; longer ones first."""
    light = LIGHT[language]
    classes_of = {}
    for name, words in pairs(language, "words"):
        phrases = {" ".join(word for word in phrase.split() if word not in light) for phrase in words.split(",")}
        classes_of[name] = tuple(sorted(phrases - {""}, key=len, reverse=True))
    return classes_of
