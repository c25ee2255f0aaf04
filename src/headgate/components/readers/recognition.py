"""Text recognition (OCR) with Tesseract. Run it in a separate process: image decoders are attacked."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headgate.components.readers.document import Unreadable
from headgate.components.readers.image import opened_image, require_pixels
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]
    import tesserocr  # type: ignore[import-untyped]
    from PIL import Image, ImageOps
else:
    pypdfium2 = lazy_module("pypdfium2")
    tesserocr = lazy_module("tesserocr")
    Image = lazy_module("PIL.Image")
    ImageOps = lazy_module("PIL.ImageOps")

MOST_PIXELS = 12_000_000
"""Of a page that is recognised, a sheet of A4 at 300 dots per inch and more; larger ones are reduced."""
DOTS_PER_INCH = 300
_POINTS_PER_INCH = 72


@dataclass(frozen=True, slots=True)
class Recognised:
    """The text of a page."""

    text: str
    confidence: int
    """Mean of the words, 0 to 100."""
    blank: bool = False
    """Whether the page has one colour only."""


def recognise(content: bytes, *, name: str, page: int, languages: str, folder: str) -> Recognised:
    """Return the text that a page shows.

    Args:
        content: PDF, or an image.
        name: Its name, for errors.
        page: Number of the page, from 1.
        languages: Names of Tesseract, joined with `+`.
        folder: Where the language data is.

    Raises:
        Unreadable: The page cannot be drawn.
    """
    draw = _drawn if content[:1024].lstrip().startswith(b"%PDF-") else _frame
    picture = draw(content, name, page)
    if len(set(picture.getextrema())) == 1:
        return Recognised("", 0, blank=True)
    os.environ["OMP_THREAD_LIMIT"] = "1"  # the library would start a thread for each processor
    with tesserocr.PyTessBaseAPI(path=folder, lang=languages, psm=tesserocr.PSM.AUTO) as engine:
        engine.SetImage(picture)
        engine.SetSourceResolution(DOTS_PER_INCH)
        text = clean_text(engine.GetUTF8Text()).strip()
        return Recognised(text, engine.MeanTextConf() if text else 0)


def _drawn(content: bytes, name: str, page: int) -> Any:  # noqa: ANN401 - a lazily imported type
    """Return a page of a PDF as a grey picture."""
    try:
        with pypdfium2.PdfDocument(content) as document:
            sheet = document[page - 1]
            width, height = sheet.get_size()
            inches = max(width * height, 1.0) / _POINTS_PER_INCH**2
            dots = min(DOTS_PER_INCH, (MOST_PIXELS / inches) ** 0.5)
            return sheet.render(scale=dots / _POINTS_PER_INCH, grayscale=True).to_pil().convert("L")
    except Exception as error:  # the error of a damaged page depends on where it is damaged
        raise Unreadable(
            f"Page {page} of '{name}' cannot be drawn: {clipped(str(error), 200)}.", remedy="Save it again as PDF."
        ) from error


def _frame(content: bytes, name: str, page: int) -> Any:  # noqa: ANN401
    """Return a page of an image, upright and grey, at most of `MOST_PIXELS`; what is transparent is white."""
    with opened_image(content, name=name) as source:
        if page > 1:
            source.seek(page - 1)
            require_pixels(source, name)
        image = ImageOps.exif_transpose(source)
        if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
            image = image.convert("RGBA")
            background = Image.new("RGBA", image.size, "white")
            background.alpha_composite(image)
            image = background
        image = image.convert("L")
        share = (MOST_PIXELS / (image.width * image.height)) ** 0.5
        if share < 1:
            image.thumbnail((max(1, int(image.width * share)), max(1, int(image.height * share))))
        return image
