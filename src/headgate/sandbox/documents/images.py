"""Images of a document: decoded, identified by content, and limited before their pixels are decoded."""

import base64
import binascii
import struct
from collections.abc import Mapping
from urllib.parse import unquote, unquote_to_bytes

MOST_PIXELS = 50_000_000
MOST_BYTES = 20_000_000


class NoImage(Exception):
    """Why an image is not included, as the end of a sentence."""


def find_image(target: str, images: Mapping[str, bytes]) -> tuple[bytes, str]:
    """Return content and extension (`png`, `jpg`, `gif`) of an image reference in the text.

    Args:
        target: A `data:` URI, or the name or id of an image in `images`.
        images: Name or id to content.

    Raises:
        NoImage: It is external, of an unsupported type, damaged or too large.
    """
    if target[:5].lower() == "data:":
        content = _decoded(target)
    elif target in images or unquote(target) in images:
        content = images.get(target) or images[unquote(target)]
    elif "://" in target:
        raise NoImage("it is on the web, and nothing is downloaded")
    else:
        raise NoImage("the run has no such file")
    ending = _kind(content)
    if len(content) > MOST_BYTES or _pixels(content, ending) > MOST_PIXELS:
        raise NoImage("it is too large")
    return content, ending


def _decoded(target: str) -> bytes:
    media_type, comma, data = target[5:].partition(",")
    if not comma:
        raise NoImage("its data URI is not valid")
    try:
        if media_type.lower().endswith(";base64"):
            return base64.b64decode(unquote(data), validate=True)
        return unquote_to_bytes(data)
    except (binascii.Error, ValueError) as error:
        raise NoImage("its data URI is not valid") from error


def _kind(content: bytes) -> str:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    raise NoImage("it is not a PNG, JPEG or GIF")


def _pixels(content: bytes, ending: str) -> int:
    """Return width times height according to the header. Raises `NoImage` when the header is invalid."""
    try:
        if ending == "png":
            width, height = struct.unpack(">II", content[16:24])
        elif ending == "gif":
            width, height = struct.unpack("<HH", content[6:10])
        else:
            width, height = _jpeg_size(content)
    except struct.error as error:
        raise NoImage("it is damaged") from error
    if width == 0 or height == 0:
        raise NoImage("it is damaged")
    return int(width * height)


def _jpeg_size(content: bytes) -> tuple[int, int]:
    """Read the markers up to the frame header (ITU T.81, B.2.2)."""
    position = 2
    while True:
        marker, length = struct.unpack(">HH", content[position : position + 4])
        if 0xFFC0 <= marker <= 0xFFCF and marker not in {0xFFC4, 0xFFC8, 0xFFCC}:
            height, width = struct.unpack(">HH", content[position + 5 : position + 9])
            return width, height
        position += 2 + length
