"""Every suggestion and `try this` of the page, the docs and the gallery: collected, built, run, its outcome checked.

They are collected from where they are written, so that a new one fails until `tests/data/offline_suggestions.json` says
with what input it runs and what must come out.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.features.catalog.gallery import TemplateTrigger, load_gallery
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from tests.unit.agents.assistant.offline.corpus import REGISTRY
from tests.unit.agents.assistant.offline.running import run

ROOT = Path(__file__).parents[5]


def of_samples() -> dict[str, dict[str, Any]]:
    """What must come out of the sample data of each template that has some, by its example requests."""
    checks: dict[str, dict[str, Any]] = {}
    for recipe in load_gallery():
        file = recipe.sample.file
        check: dict[str, Any] = (
            {"model": True}
            if recipe.needs_model
            else {"tools": ["build_flow", *map(_starting, recipe.triggers)]}
            if recipe.needs_flows or recipe.needs_connections(REGISTRY)
            else {"there": recipe.shows, "form": recipe.sample.form}
        )
        check |= {"text": recipe.sample.text} | ({"file": [file.name, file.content]} if file else {})
        checks |= dict.fromkeys(recipe.examples, check)
    return checks


def _starting(trigger: TemplateTrigger) -> str:
    return "set_schedule" if trigger.config["kind"] == "schedule" else "set_trigger"


WRITTEN: dict[str, dict[str, Any]] = json.loads((ROOT / "tests/data/offline_suggestions.json").read_text("utf-8"))
CHECKS = of_samples() | WRITTEN
PLACEHOLDERS = {"...", "DESCRIPTION", "build ... and run it"}
FLOWS = {
    "": Flow(),
    "edited": parse_spec("name: A\nnodes:\n  text: TextInput\n  show: ChatOutput\nedges:\n  text.text -> show.input\n"),
    "saving": parse_spec(
        "name: A\nnodes:\n  text: TextInput\n  save: SaveFile\n    name: a.txt\nedges:\n  text.text -> save.content\n"
    ),
    "saving_table": parse_spec(
        "name: A\nnodes:\n  list: InstalledPackages\n  save: SaveFile\n    name: licences.csv\n"
        "edges:\n  list.table -> save.content\n"
    ),
}


def of_page(place: str) -> set[str]:
    """The suggestions of a place of the page, in both languages."""
    folder = ROOT / "web" / "src" / "features" / place / "texts"
    texts = "".join((folder / f"{language}.ts").read_text(encoding="utf-8") for language in ("en", "sv"))
    suggestions = re.findall(r'(?:example_\w+|ask_hint|say_example): "((?:[^"\\]|\\.)*)"', texts)
    return {text.replace("{{node}}", "show") for text in suggestions}


def of_docs() -> set[str]:
    """What the README and the docs ask for with `headgate ask`, and what the builder's page says one can say."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    asked = set(re.findall(r'headgate ask(?: [^\n"`]*)? "([^"\n]+)"', texts))
    rows = re.findall(
        r"^\| (`.*?) \|", (ROOT / "docs/guides/offline-builder.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return (asked | {say for row in rows for say in re.findall(r"`([^`]+)`", row)}) - PLACEHOLDERS


SUGGESTIONS = sorted(
    of_page("home")
    | of_page("canvas")
    | of_page("assistant")
    | of_docs()
    | {text for recipe in load_gallery() for text in recipe.examples}
)


async def understood(request: str, flow: str) -> Understanding:
    return await try_out(understand(request, REGISTRY, FLOWS[flow]), REGISTRY, None)


class TestSuggestions:
    def test_each_has_a_check(self) -> None:
        assert set(SUGGESTIONS) - set(CHECKS) == set()

    def test_no_check_is_left_of_one_that_is_gone(self) -> None:
        assert set(WRITTEN) - set(SUGGESTIONS) == set()

    @pytest.mark.parametrize("request_", [text for text in SUGGESTIONS if "model" not in CHECKS.get(text, {})])
    async def test_does_what_it_says(self, request_: str) -> None:
        check = CHECKS[request_]
        made = await understood(request_, check.get("flow", ""))
        if "tools" in check:
            assert [action.tool for action in made.actions] == check["tools"], made.reply
            return
        if made.intent == "question":
            shown = made.reply
        else:
            assert made.flow is not None, made.reply
            shown = await self.outcome(made.flow, check)
        assert [part for part in check["there"] if part not in shown] == [], shown[:400]
        assert [part for part in check.get("gone", ()) if part in shown] == [], shown[:400]

    async def outcome(self, flow: Flow, check: dict[str, Any]) -> str:
        pages = {"https://example.org": check["page"]} if "page" in check else {}
        file = tuple(check["file"]) if "file" in check else None
        ran = await run(flow, REGISTRY, text=check.get("text", ""), form=check.get("form"), file=file, pages=pages)
        assert set(check.get("saved", ())) <= set(ran.files)
        assert [round(seconds) for seconds in ran.waited] == check.get("waited", [])
        assert ran.shown or not check.get("shown")
        return ran.everything

    @pytest.mark.parametrize("request_", [text for text in SUGGESTIONS if "model" in CHECKS.get(text, {})])
    async def test_nothing_is_built_where_a_model_is_needed(self, request_: str) -> None:
        made = await understood(request_, "")
        assert made.flow is None, CHECKS[request_]["model"]
        assert made.reply
