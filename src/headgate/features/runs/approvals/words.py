"""Texts of notices of approvals by mail and chat, in each language."""

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "sv"]
Words = Mapping[str, str]

WORDS: Mapping[Language, Words] = {
    "en": {
        "asked": "Approval needed",
        "reminder": "Approval still needed",
        "escalated": "Approval escalated to you",
        "tool": "Allow the call of {tool}?",
        "flow": "Flow",
        "by": "Asked by",
        "visitor": "a visitor",
        "before": "Decide before",
        "approval": "Approval",
    },
    "sv": {
        "asked": "Godkännande behövs",
        "reminder": "Godkännande behövs fortfarande",
        "escalated": "Godkännande eskalerat till dig",
        "tool": "Tillåt anropet av {tool}?",
        "flow": "Flöde",
        "by": "Begärt av",
        "visitor": "en besökare",
        "before": "Besluta före",
        "approval": "Godkännande",
    },
}


def language_of(name: str) -> Language:
    """Return the language that a step or a variable names; English for none and for one without texts."""
    return "sv" if name.strip().lower().split("-", 1)[0] == "sv" else "en"
