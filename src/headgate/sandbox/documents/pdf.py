"""Sets a document as PDF with Typst."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

BODY_FONT = "Noto Sans"
_SOURCE = "document.typ"
_TEMPLATE = files(__package__).joinpath("template.typ").read_text(encoding="utf-8")
_CJK = {"ja": "JP", "ko": "KR", "zh": "SC"}


class NotSet(Exception):
    """Typst refused the document; its own words."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is the same for all of a document."""

    title: str
    """In the document's properties."""
    shown_title: str
    """Above the text; empty for none."""
    language: str
    size: str


def set_pdf(typst: Any, body: str, *, page: Page, root: Path, fonts: Any) -> bytes:  # noqa: ANN401 - module and value
    """The PDF of a body in Typst's markup. Only `root` can be read from it, and none of the system's fonts.

    Raises:
        NotSet: Typst refused it.
    """
    source = root / _SOURCE
    source.write_text(_TEMPLATE + body, encoding="utf-8")
    families = "|".join(in_order(fonts.families(), page.language))
    inputs = {
        "title": page.title,
        "shown-title": page.shown_title,
        "language": page.language,
        "paper": page.size,
        "fonts": families,
    }
    packages = str(root / "packages")  # empty: nothing is ever imported
    try:
        compiler = typst.Compiler(
            str(source), root=str(root), font_paths=fonts, sys_inputs=inputs,
            package_path=packages, package_cache_path=packages,
        )  # fmt: skip
        return bytes(compiler.compile(format="pdf", timestamp=0))
    except (typst.TypstError, ValueError) as error:
        raise NotSet(str(error)) from error


def in_order(families: Sequence[str], language: str) -> list[str]:
    """Our own families in the order they are tried: the general one, then those of a script, symbols last."""
    cjk = _CJK.get(language[:2], "SC")
    ours = [one for one in families if one.startswith("Noto ")]
    return sorted(
        ours,
        key=lambda one: (
            one != BODY_FONT,
            "Emoji" in one or "Symbols" in one,
            "CJK" in one,
            "CJK" in one and not one.endswith(cjk),
            one,
        ),
    )
