"""Every suggestion, placeholder and `try this` of the page, the docs and the command line: built, run, and checked."""

import re
from pathlib import Path
from typing import Any

import pytest

from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.features.catalog.gallery import load_gallery
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from tests.unit.agents.assistant.offline.corpus import REGISTRY
from tests.unit.agents.assistant.offline.running import run

ROOT = Path(__file__).parents[5]
WEB = ROOT / "web" / "src" / "features"
PRICES = "country,price\nSweden,10\nSweden,20\nNorway,7\n"
AMOUNTS = "customer,amount\nAnn,12000\nBo,50\n"
SWEDISH = "land,pris\nSverige,10\nSverige,20\nNorge,7\n"
BELOPP = "kategori,belopp\na,12000\nb,50\na,1\n"
LOG = "INFO a\nERROR disk\nINFO b\n"
TEXT = "Ann ann@example.org 850101-2384 called"
CHECKS: dict[str, tuple[str, str, str, tuple[str, ...], tuple[str, ...]]] = {
    "en.ask_hint": ("", "a.csv", AMOUNTS, ("Ann",), ("Bo",)),
    "en.example_mask": (TEXT, "", "", ("Ann", "called"), ("ann@example.org", "2384")),
    "en.example_csv": ("", "a.csv", PRICES, ("Sweden", "15"), ("20",)),
    "en.example_lines": ("", "a.log", LOG, ("ERROR disk",), ("INFO",)),
    "en.example_answer": ("I want a refund", "", "", ("We call you",), ("Thanks",)),
    "sv.ask_hint": ("", "a.csv", BELOPP, ("12000",), ("50",)),
    "sv.example_mask": (TEXT, "", "", ("Ann", "called"), ("ann@example.org", "2384")),
    "sv.example_csv": ("", "a.csv", SWEDISH, ("Sverige", "15"), ("20",)),
    "sv.example_lines": ("", "a.log", LOG, ("ERROR disk",), ("INFO",)),
    "sv.example_answer": ("Det gäller en retur", "", "", ("Vi ringer dig",), ("Tack",)),
}
"""Suggestion of the front page to: text, file name and content of the run, what must be in its outcome, and what not."""  # noqa: E501
EDITED = parse_spec("name: A\nnodes:\n  text: TextInput\n  show: ChatOutput\nedges:\n  text.text -> show.input\n")


def texts(place: str, language: str) -> dict[str, str]:
    """The texts of a place of the page whose keys are suggestions."""
    source = (WEB / place / "texts" / f"{language}.ts").read_text(encoding="utf-8")
    return dict(re.findall(r'(example_\w+|ask_hint): "((?:[^"\\]|\\.)*)"', source))


FRONT = {f"{language}.{key}": text for language in ("en", "sv") for key, text in texts("home", language).items()}
CHAT = {f"{language}.{key}": text for language in ("en", "sv") for key, text in texts("assistant", language).items()}
DOCS = sorted(
    {
        match
        for path in (
            ROOT / "README.md",
            ROOT / "docs" / "guide.md",
            ROOT / "docs" / "offline-builder.md",
            ROOT / "docs" / "assistant.md",
        )
        for match in re.findall(
            r'headgate ask "([^"]+)"(?![^\n]*--flow)(?![^\n]*--model (?!offline))', path.read_text(encoding="utf-8")
        )
        if match not in {"...", "WHAT YOU WANT"}
    }
)


async def outcome(request: str, text: str, name: str, content: str) -> str:
    understood = await try_out(understand(request, REGISTRY, Flow()), REGISTRY, None)
    assert understood.flow is not None, understood.reply
    file = (name, content) if name else None
    return (await run(understood.flow, REGISTRY, text=text, file=file)).everything


class TestFrontPage:
    def test_every_suggestion_has_a_check(self) -> None:
        assert set(FRONT) == set(CHECKS)

    @pytest.mark.parametrize("key", CHECKS)
    async def test_does_what_it_says(self, key: str) -> None:
        text, name, content, there, gone = CHECKS[key]
        shown = await outcome(FRONT[key], text, name, content)
        assert [part for part in there if part not in shown] == []
        assert [part for part in gone if part in shown] == []


class TestChat:
    @pytest.mark.parametrize("key", CHAT)
    def test_is_done(self, key: str) -> None:
        request, flow = CHAT[key].replace("{{node}}", "show"), Flow()
        if not {"links", "csv", "packages", "chatbot"} & set(key.split("_")):
            flow = EDITED
        understood = understand(request, REGISTRY, flow)
        if key.endswith("chatbot"):
            return  # offered only where a model is connected
        assert understood.actions or understood.intent == "question", understood.reply


class TestDocs:
    @pytest.mark.parametrize("request_", DOCS)
    def test_is_done(self, request_: str) -> None:
        understood = understand(request_, REGISTRY, Flow())
        assert understood.actions or understood.intent == "question", understood.reply


class TestGallery:
    @pytest.mark.parametrize("recipe", load_gallery(), ids=lambda recipe: recipe.key)
    def test_examples_are_built_or_need_a_model(self, recipe: Any) -> None:
        models = any("model" in node.params for node in recipe.flow().nodes)
        for example in recipe.examples:
            assert understand(example, REGISTRY, Flow()).actions or models, example
