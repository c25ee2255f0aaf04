"""Navigation of the documentation site, read from the sections of `docs/index.md`; MkDocs calls it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_LINK = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<path>[\w/.-]+\.md)\)")


def sections() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Each heading of the front page with the pages that it links to, in their order."""
    for part in (FOLDER / "index.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        yield heading, [{_title(link["title"]): link["path"]} for link in _LINK.finditer(text)]


def decisions() -> list[dict[str, str]]:
    """The decision records, newest first."""
    records = sorted((FOLDER / "decisions").glob("*.md"), reverse=True)
    return [{_heading(record): f"decisions/{record.name}"} for record in records]


def _title(text: str) -> str:
    return text[0].upper() + text[1:]


def _heading(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def on_config(config: Any) -> Any:  # noqa: ANN401 - MkDocs' own type is not installed with Headgate
    """Set the navigation."""
    config.nav = [{"Home": "index.md"}, *({name: pages} for name, pages in sections()), {"Decisions": decisions()}]
    return config
