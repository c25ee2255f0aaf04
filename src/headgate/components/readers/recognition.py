"""Text recognition (OCR) with Tesseract. Run it in a separate process: image decoders are attacked."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headgate.components.readers.drawing import rendered
from headgate.components.readers.image import opened_image, require_pixels
from headgate.foundation.lazy import lazy_module
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import tesserocr  # type: ignore[import-untyped]
    from PIL import Image, ImageOps
else:
    tesserocr = lazy_module("tesserocr")
    Image = lazy_module("PIL.Image")
    ImageOps = lazy_module("PIL.ImageOps")

MOST_PIXELS = 12_000_000
"""Of a page that is recognised, a sheet of A4 at 300 dots per inch and more; larger ones are reduced."""
DOTS_PER_INCH = 300


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
    image = rendered(content, name=name, page=page, dots=DOTS_PER_INCH, most_pixels=MOST_PIXELS, grayscale=True)
    return image.convert("L")


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
