"""The component that converts images."""

import base64
from pathlib import PurePosixPath
from typing import Any, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.file_names import safe_name
from headgate.components.isolated import IMAGE
from headgate.components.isolated.calls import call_isolated, read_document
from headgate.components.readers.document import require_size
from headgate.components.readers.image import FORMATS, MOST_SIDE, Format, Mode
from headgate.graph.names import clipped
from headgate.sdk import Component, Data, File, Text, field, output

_EXTENSIONS = {"png": ".png", "jpeg": ".jpg", "webp": ".webp"}


class ConvertImage(Component):
    """Resizes an image or converts it to PNG, JPEG or WebP; turns it upright and removes its metadata."""

    label = "Convert image"
    category = "data"
    icon = "image"
    needs_extra = "images"
    keywords = (
        "resize", "scale", "thumbnail", "crop", "picture", "photo", "jpeg", "jpg", "png", "webp", "gif", "tiff",
        "compress", "exif", "format", "shrink", "ocr", "text",
    )  # fmt: skip

    file: File = field(name="image", label="Image", help="PNG, JPEG, GIF, WebP, BMP or TIFF.", main=True)
    width: int = field(
        default=0, label="Width", help="In pixels; 0 follows from the height, or keeps the size.", ge=0, le=MOST_SIDE
    )
    height: int = field(
        default=0, label="Height", help="In pixels; 0 follows from the width, or keeps the size.", ge=0, le=MOST_SIDE
    )
    mode: Mode = field(
        default="fit",
        label="Mode",
        help="fit: inside the size, never enlarged. fill: covers it, cropped. stretch: ignores the proportions.",
        port=False,
    )
    format: Format = field(default="keep", label="Format", help="keep: the image's own, or PNG.", port=False)
    quality: int = field(default=85, label="Quality", help="Of JPEG and WebP.", ge=1, le=100, advanced=True)
    _converted: dict[str, Any] | None = PrivateAttr(default=None)
    _file: File | None = PrivateAttr(default=None)

    @output(name="file", label="File", help="The converted image.")
    async def save(self) -> File:
        """Convert, then store."""
        converted = await self._convert()
        stem = PurePosixPath(safe_name(self.file.name, default="image")).stem
        name = f"{stem}{_EXTENSIONS[converted['format']]}"
        content = base64.b64decode(converted["content"])
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(name, content, FORMATS[converted["format"]])

    @output(help="format, width and height of the result, and of the original.")
    async def data(self) -> Data:
        """Return the sizes."""
        converted = await self._convert()
        format_, width, height = converted["original"]
        original: dict[str, JsonValue] = {"format": format_, "width": width, "height": height}
        return {key: converted[key] for key in ("format", "width", "height")} | {"original": original}

    @output(help="The text that the image shows, by text recognition (OCR).")
    async def text(self) -> Text:
        """Recognise the text of the original."""
        content = await self.ctx.files.read(self.file)
        read = await read_document(
            self.ctx, content, name=self.file.name, media_type=self.file.media_type or "image/png", members=["text"]
        )
        for note in read.notes:
            self.ctx.log(note)
        return read.text

    async def _convert(self) -> dict[str, Any]:
        """Convert once, in a separate process."""
        if self._converted is None:
            content = await self.ctx.files.read(self.file)
            require_size(content, self.file.name)
            arguments: dict[str, JsonValue] = {
                "content": base64.b64encode(content).decode(),
                "name": self.file.name,
                "width": self.width,
                "height": self.height,
                "mode": self.mode,
                "target": self.format,
                "quality": self.quality,
            }
            result = await call_isolated(self.ctx, IMAGE, arguments, f"'{clipped(self.file.name, 80)}'")
            self._converted = cast("dict[str, Any]", result)
        return self._converted
