"""The page of what the offline builder understands, from its recipes."""

from headgate.agents.assistant.offline.cookbook import BUILDING, EDITS, RUNS
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.recipe import Recipe

_PARTS: tuple[tuple[str, tuple[Recipe, ...]], ...] = (("Building", BUILDING), ("Changing", EDITS), ("Running", RUNS))


def requests_page() -> str:
    """`docs/reference/offline-requests.md`."""
    lines = [
        "# What the offline builder understands",
        "",
        "This page is generated from its recipes (`make docs`). Each row is a step; steps are joined with commas, `and` and",  # noqa: E501
        "`then`. The examples are tests. `[...]` may be absent; names in braces are what you say.",
    ]
    for title, recipes in _PARTS:
        lines += ["", f"## {title}", "", "| it says | you say, for example | på svenska |", "|---|---|---|"]
        lines += [_row(recipe) for recipe in recipes]
    return "\n".join(lines) + "\n"


def _row(recipe: Recipe) -> str:
    cells = [recipe.wordings["en"].say, _example(recipe, "en"), _example(recipe, "sv")]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _example(recipe: Recipe, language: Language) -> str:
    """An example; where the recipe has none, its first pattern."""
    wording = recipe.wordings[language]
    return f"{wording.examples[0]}" if wording.examples else f"`{wording.patterns[0]}`"
