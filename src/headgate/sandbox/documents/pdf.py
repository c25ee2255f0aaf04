"""Generates a PDF with Typst."""

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
    """Typst rejected the document; contains its error."""


@dataclass(frozen=True, slots=True)
class Page:
    """Properties that all pages of a document share."""

    title: str
    """Title in the document's properties."""
    shown_title: str
    """Title above the text; empty for none."""
    language: str
    size: str


def set_pdf(typst: Any, body: str, *, page: Page, root: Path, fonts: Any) -> bytes:  # noqa: ANN401 - module and value
    """Return the PDF of a body in Typst markup. It can only read `root`, and no system fonts.

    Raises:
        NotSet: Typst rejected it.
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
    packages = str(root / "packages")  # empty: no packages are ever imported
    try:
        compiler = typst.Compiler(
            str(source), root=str(root), font_paths=fonts, sys_inputs=inputs,
            package_path=packages, package_cache_path=packages,
        )  # fmt: skip
        return bytes(compiler.compile(format="pdf", timestamp=0))
    except (typst.TypstError, ValueError) as error:
        raise NotSet(str(error)) from error


def in_order(families: Sequence[str], language: str) -> list[str]:
    """Return the bundled font families in order of preference: general, then by script, symbols last."""
    cjk = _CJK.get(language[:2], "SC")
    bundled = [family for family in families if family.startswith("Noto ")]
    return sorted(
        bundled,
        key=lambda family: (
            family != BODY_FONT,
            "Emoji" in family or "Symbols" in family,
            "CJK" in family,
            "CJK" in family and not family.endswith(cjk),
            family,
        ),
    )
