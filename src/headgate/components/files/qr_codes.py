"""The component that makes QR codes."""

import io
from typing import Literal

from headgate.components.files.file_names import safe_name
from headgate.sdk import Component, ComponentError, File, field, output

_LEVELS = {"low": "L", "medium": "M", "quartile": "Q", "high": "H"}
_MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


class QRCode(Component):
    """Makes a QR code of a text or an address, as a PNG or SVG file."""

    label = "QR code"
    category = "output"
    icon = "qr-code"
    effect = True
    keywords = ("barcode", "scan", "code", "matrix", "link", "image", "png", "svg", "ticket", "label", "wifi")

    text: str = field(
        label="Text", help="Text or address, up to 2,900 bytes.", main=True, tool_mode=True, max_length=2_900
    )
    format: Literal["png", "svg"] = field(default="png", label="Format", help="png or svg.", port=False)
    name: str = field(
        default="qr-code", label="File name", help="Without extension; the format adds it.", port=False, max_length=1000
    )
    scale: int = field(default=8, label="Scale", help="Pixels per module.", ge=1, le=40, advanced=True)
    error_correction: Literal["low", "medium", "quartile", "high"] = field(
        default="medium", label="Error correction", help="How much damage the code tolerates.", advanced=True
    )

    @output(help="The QR code.")
    async def file(self) -> File:
        """Make the code, then store it."""
        import segno  # noqa: PLC0415 - used by few flows

        try:
            code = segno.make_qr(self.text, error=_LEVELS[self.error_correction], boost_error=False)
        except ValueError as error:
            raise ComponentError(
                f"QRCode: the text cannot be encoded: {error}.",
                remedy="Use a shorter text, or less error correction.",
                field="text",
            ) from error
        stream = io.BytesIO()
        code.save(stream, kind=self.format, scale=self.scale)
        await self.ctx.check_cancelled()
        stem = safe_name(self.name, default="qr-code").removesuffix(f".{self.format}")
        return await self.ctx.files.save(f"{stem}.{self.format}", stream.getvalue(), _MEDIA_TYPES[self.format])
