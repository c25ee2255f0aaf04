"""Pictures and scans of text that the tests draw."""

import io
from collections.abc import Sequence

import matplotlib as mpl
import pytest
from PIL import Image, ImageDraw, ImageFont

from headgate.sandbox.libraries import language_data

ENGLISH = ("Invoice number 4711", "The total amount is due on Friday.", "Thank you for your order.")
SWEDISH = ("Faktura för båten", "Köparen betalar åtta kronor på måndag.", "Öppet även på lördag.")
_FONT = f"{mpl.get_data_path()}/fonts/ttf/DejaVuSerif.ttf"


def require_recognition() -> None:
    """Skip the test without the language data, which is a package of the system."""
    folder = language_data()
    if folder is None or not all((folder / f"{name}.traineddata").exists() for name in ("eng", "swe")):
        pytest.skip("Language data of Tesseract is not installed: run scripts/ensure-tesseract")


def drawn(lines: Sequence[str], *, width: int = 1240, height: int = 700, size: int = 44) -> Image.Image:
    """A white sheet with lines of text."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(_FONT, size)
    for row, line in enumerate(lines):
        draw.text((60, 60 + row * 2 * size), line, font=font, fill="black")
    return image


def picture(*lines: str, kind: str = "PNG", **options: object) -> bytes:
    """An image file with lines of text."""
    return _saved(drawn(lines), kind, **options)


def scan(*pages: Sequence[str], kind: str = "PDF") -> bytes:
    """A PDF, or a TIFF, whose pages are pictures of text; a page without lines is blank."""
    sheets = [drawn(lines) for lines in pages]
    options: dict[str, object] = {"resolution": 150} if kind == "PDF" else {}
    return _saved(sheets[0], kind, save_all=True, append_images=sheets[1:], **options)


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()
