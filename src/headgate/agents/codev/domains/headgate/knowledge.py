"""Instructions for Headgate flows, by phase: the skill file, or a short fallback (DD-014)."""

from pathlib import Path

from headgate.agents.codev.domain import Phase
from headgate.agents.codev.skills.loader import load_skill

SKILL = "headgate_builder"

FALLBACK: dict[Phase, str] = {
    Phase.DISCOVER: (
        "Look before you plan: search_components and describe_component for every component you will use, list_models"
        " for steps that need a model, list_variables for keys. End with a block that says CREDENTIALS_STATUS: OK, or"
        " CREDENTIALS_STATUS: MISSING and MISSING_TYPES: with names of variables or ids of providers."
    ),
    Phase.PLAN: "Name each node with its type, each edge with its output and input, and test cases that check.",
    Phase.PATCH: "Write a new flow with build_flow, as spec text. For changes use the smaller tools.",
    Phase.TEST: "A case passes when everything that it expects holds for the text that the flow answers with.",
}


def load_knowledge(folder: Path | None) -> dict[Phase, str]:
    """Load Markdown by phase; an operator's file in `folder` has priority."""
    return load_skill(SKILL, FALLBACK, folder=folder)
