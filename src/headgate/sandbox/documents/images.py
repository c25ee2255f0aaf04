"""Images of a document: decoded, recognised by their bytes, and bounded before anything decodes their pixels."""

import base64
import binascii
import struct
from collections.abc import Mapping
from urllib.parse import unquote, unquote_to_bytes

MOST_PIXELS = 50_000_000
MOST_BYTES = 20_000_000


class NoImage(Exception):
    """Why an image is not set, as the end of a sentence."""


def find_image(target: str, given: Mapping[str, bytes]) -> tuple[bytes, str]:
    """Content and ending (`png`, `jpg`, `gif`) of what an image of the text refers to.

    Args:
        target: A `data:` URI, or the name or id of a given image.
        given: Name or id to content.

    Raises:
        NoImage: It is somewhere else, of another kind, broken or too large.
    """
    if target[:5].lower() == "data:":
        content = _decoded(target)
    elif target in given or unquote(target) in given:
        content = given.get(target) or given[unquote(target)]
    elif "://" in target:
        raise NoImage("it is on the web, and nothing is fetched")
    else:
        raise NoImage("the run has no such file")
    ending = _kind(content)
    if len(content) > MOST_BYTES or _pixels(content, ending) > MOST_PIXELS:
        raise NoImage("it is too large")
    return content, ending


def _decoded(target: str) -> bytes:
    about, comma, data = target[5:].partition(",")
    if not comma:
        raise NoImage("its data URI is broken")
    try:
        if about.lower().endswith(";base64"):
            return base64.b64decode(unquote(data), validate=True)
        return unquote_to_bytes(data)
    except (binascii.Error, ValueError) as error:
        raise NoImage("its data URI is broken") from error


def _kind(content: bytes) -> str:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    raise NoImage("it is not a PNG, JPEG or GIF")


def _pixels(content: bytes, ending: str) -> int:
    """Width times height as the header says. Raises `NoImage` when it does not."""
    try:
        if ending == "png":
            width, height = struct.unpack(">II", content[16:24])
        elif ending == "gif":
            width, height = struct.unpack("<HH", content[6:10])
        else:
            width, height = _jpeg_size(content)
    except struct.error as error:
        raise NoImage("it is broken") from error
    if width == 0 or height == 0:
        raise NoImage("it is broken")
    return int(width * height)


def _jpeg_size(content: bytes) -> tuple[int, int]:
    """Walks the markers to the frame header (ITU T.81, B.2.2)."""
    at = 2
    while True:
        marker, length = struct.unpack(">HH", content[at : at + 4])
        if 0xFFC0 <= marker <= 0xFFCF and marker not in {0xFFC4, 0xFFC8, 0xFFCC}:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        at += 2 + length
