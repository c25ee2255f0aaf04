"""Opens, resizes and converts images. Run it in a separate process: image decoders are attacked."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from headgate.components.readers.document import Document, Unreadable
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped

if TYPE_CHECKING:
    from PIL import Image, ImageOps
else:
    Image = lazy_module("PIL.Image")
    ImageOps = lazy_module("PIL.ImageOps")

MOST_PIXELS = 40_000_000
MOST_BYTES = 50_000_000
MOST_SIDE = 10_000
FORMATS = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}
"""Formats that are written, and their media types."""
_READ = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
Format = Literal["keep", "png", "jpeg", "webp"]
Mode = Literal["fit", "fill", "stretch"]


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted image."""

    content: bytes
    format: str
    """A key of `FORMATS`."""
    width: int
    height: int
    original: tuple[str, int, int]
    """Format, width and height of the original."""


def convert_image(
    content: bytes, *, name: str, width: int, height: int, mode: Mode, target: Format, quality: int
) -> Converted:
    """Return an image in another size or format, upright and without metadata; of an animation the first frame.

    Args:
        content: PNG, JPEG, GIF, WebP, BMP or TIFF.
        name: Its name, for errors.
        width: Width in pixels; 0 follows from the height.
        height: Height in pixels; 0 follows from the width; both 0 keep the size.
        mode: `fit` keeps the proportions inside the size and never enlarges, `fill` covers the size and crops,
            `stretch` ignores the proportions.
        target: Format of the result; `keep` is the original's, or PNG when that is not written.
        quality: Of JPEG and WebP, 1 to 100.

    Raises:
        Unreadable: It is no such image, is damaged, or has too many pixels.
    """
    with opened_image(content, name=name) as source:
        original = (str(source.format).lower(), source.width, source.height)
        source.load()
        image = ImageOps.exif_transpose(source)
    format_ = target if target != "keep" else original[0] if original[0] in FORMATS else "png"
    image = _resized(_in_colour(image, format_), width, height, mode)
    stream = io.BytesIO()
    options: dict[str, object] = {} if format_ == "png" else {"quality": quality}
    image.save(stream, format_.upper(), **options)
    return Converted(stream.getvalue(), format_, image.width, image.height, original)


@contextmanager
def opened_image(content: bytes, *, name: str) -> Iterator[Any]:
    """Open an image of an accepted size for a block, whose errors are those of the image. Raises `Unreadable`."""
    if len(content) > MOST_BYTES:
        raise Unreadable(
            f"'{name}' has {len(content)} bytes; the limit is {MOST_BYTES}.", remedy="Use a smaller image."
        )
    try:
        with Image.open(io.BytesIO(content), formats=_READ) as source:
            require_pixels(source, name)
            yield source
    except Unreadable:
        raise
    except Exception as error:  # the error of a damaged image depends on where it is damaged
        raise Unreadable(
            f"'{name}' is not a readable image: {clipped(str(error), 200)}.",
            remedy="Use PNG, JPEG, GIF, WebP, BMP or TIFF.",
        ) from error


def read_picture(content: bytes, *, name: str) -> Document:
    """Return the size and the pages of an image, all of them unread: TIFF may have many. Raises `Unreadable`."""
    with opened_image(content, name=name) as source:
        count = int(getattr(source, "n_frames", 1)) if source.format == "TIFF" else 1
        pages = ("",) * count
        data: JsonValue = {"width": source.width, "height": source.height, "pages": list[JsonValue](pages)}
    return Document("", data, unread=tuple(range(1, count + 1)), pages=pages)


def require_pixels(image: Any, name: str) -> None:  # noqa: ANN401 - a lazily imported type
    """Raise `Unreadable` for an image with too many pixels."""
    if image.width * image.height > MOST_PIXELS:
        raise Unreadable(
            f"'{name}' has {image.width} x {image.height} pixels; the limit is {MOST_PIXELS} pixels.",
            remedy="Use a smaller image.",
        )


def _in_colour(image: Any, format_: str) -> Any:  # noqa: ANN401 - a lazily imported type
    """Return the image in a mode that the format supports; JPEG gets a white background for transparency."""
    transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    plain = image.convert("RGBA" if transparent else "L" if image.mode in {"1", "L"} else "RGB")
    if format_ == "jpeg" and transparent:
        background = Image.new("RGB", plain.size, "white")
        background.paste(plain, mask=plain.getchannel("A"))
        return background
    return plain


def _resized(image: Any, width: int, height: int, mode: Mode) -> Any:  # noqa: ANN401
    if not width and not height:
        return image
    size = (
        width or max(1, min(MOST_SIDE, round(image.width * height / image.height))),
        height or max(1, min(MOST_SIDE, round(image.height * width / image.width))),
    )
    if mode == "fill":
        return ImageOps.fit(image, size, Image.Resampling.LANCZOS)
    if mode == "stretch":
        return image.resize(size, Image.Resampling.LANCZOS)
    image.thumbnail(size, Image.Resampling.LANCZOS)
    return image
