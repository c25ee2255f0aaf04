"""Text recognition (OCR) with Tesseract. Run it in a separate process: image decoders are attacked."""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headgate.components.readers.document import Layout
from headgate.components.readers.drawing import MOST_PIXELS as DRAWN_PIXELS
from headgate.components.readers.drawing import QUALITY, rendered
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
    layout: Layout
    blank: bool = False
    """Whether the page has one colour only."""


def is_pdf(content: bytes) -> bool:
    """Return whether a content is a PDF."""
    return content[:1024].lstrip().startswith(b"%PDF-")


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
    draw = _drawn if is_pdf(content) else _frame
    picture = draw(content, name, page)
    if len(set(picture.getextrema())) == 1:
        return Recognised("", 0, Layout(picture.width, picture.height, ()), blank=True)
    os.environ["OMP_THREAD_LIMIT"] = "1"  # the library would start a thread for each processor
    with tesserocr.PyTessBaseAPI(path=folder, lang=languages, psm=tesserocr.PSM.AUTO) as engine:
        engine.SetImage(picture)
        engine.SetSourceResolution(DOTS_PER_INCH)
        text = clean_text(engine.GetUTF8Text()).strip()
        words = tuple(_words(engine)) if text else ()
        confidence = engine.MeanTextConf() if text else 0
        return Recognised(text, confidence, Layout(picture.width, picture.height, words))


def _words(engine: Any) -> Iterator[tuple[str, int, int, int, int]]:  # noqa: ANN401 - a lazily imported type
    level = tesserocr.RIL.WORD
    for item in tesserocr.iterate_level(engine.GetIterator(), level):
        box = None if item.Empty(level) else item.BoundingBox(level)
        if box is not None and (word := clean_text(item.GetUTF8Text(level)).strip()):
            yield word, *box


def draw_image(content: bytes, *, name: str, page: int) -> bytes:
    """Return a page of an image, from 1, upright as it is recognised, as a WebP picture. Raises `Unreadable`."""
    picture = io.BytesIO()
    _upright(content, name, page, DRAWN_PIXELS).save(picture, "WEBP", quality=QUALITY)
    return picture.getvalue()


def _drawn(content: bytes, name: str, page: int) -> Any:  # noqa: ANN401 - a lazily imported type
    """Return a page of a PDF as a grey picture."""
    image = rendered(content, name=name, page=page, dots=DOTS_PER_INCH, most_pixels=MOST_PIXELS, grayscale=True)
    return image.convert("L")


def _frame(content: bytes, name: str, page: int) -> Any:  # noqa: ANN401
    """Return a page of an image, grey; see `_upright`."""
    return _upright(content, name, page, MOST_PIXELS).convert("L")


def _upright(content: bytes, name: str, page: int, most_pixels: int) -> Any:  # noqa: ANN401
    """Return a page of an image, upright, at most of `most_pixels`; what is transparent is white."""
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
        image = image.convert("RGB")
        share = (most_pixels / (image.width * image.height)) ** 0.5
        if share < 1:
            image.thumbnail((max(1, int(image.width * share)), max(1, int(image.height * share))))
        return image
