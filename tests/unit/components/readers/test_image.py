"""Images."""

import io

import pytest
from PIL import Image

from headgate.components.readers.document import Unreadable
from headgate.components.readers.image import Format, Mode, convert_image


def picture(width: int = 400, height: int = 200, kind: str = "PNG", mode: str = "RGB", **options: object) -> bytes:
    stream = io.BytesIO()
    Image.new(mode, (width, height), "red" if mode == "RGB" else 0).save(stream, kind, **options)
    return stream.getvalue()


def convert(
    content: bytes, *, width: int = 0, height: int = 0, mode: Mode = "fit", target: Format = "keep"
) -> Image.Image:
    done = convert_image(content, name="a", width=width, height=height, mode=mode, target=target, quality=80)
    image = Image.open(io.BytesIO(done.content))
    assert (image.width, image.height, str(image.format).lower()) == (done.width, done.height, done.format)
    return image


class TestConvertImage:
    @pytest.mark.parametrize(
        ("width", "height", "mode", "size"),
        [
            (100, 0, "fit", (100, 50)),
            (0, 100, "fit", (200, 100)),
            (100, 100, "fit", (100, 50)),
            (4000, 4000, "fit", (400, 200)),
            (100, 100, "fill", (100, 100)),
            (50, 100, "stretch", (50, 100)),
            (0, 0, "fill", (400, 200)),
        ],
    )
    def test_resizes(self, width: int, height: int, mode: Mode, size: tuple[int, int]) -> None:
        image = convert(picture(), width=width, height=height, mode=mode)
        assert (image.width, image.height) == size

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
    @pytest.mark.parametrize("target", ["keep", "png", "jpeg", "webp"])
    def test_converts(self, kind: str, target: Format) -> None:
        kept = kind.lower() if kind in {"PNG", "JPEG", "WEBP"} else "png"
        assert str(convert(picture(kind=kind), target=target).format).lower() == (kept if target == "keep" else target)

    def test_gives_transparency_a_background(self) -> None:
        assert convert(picture(mode="RGBA"), target="jpeg").getpixel((0, 0)) == (255, 255, 255)
        assert convert(picture(mode="RGBA"), target="webp").mode == "RGBA"

    def test_turns_it_upright_and_drops_metadata(self) -> None:
        exif = Image.Exif()
        exif[0x0112], exif[0x010E] = 6, "a secret"
        image = convert(picture(kind="JPEG", exif=exif))
        assert (image.width, image.height) == (200, 400)
        assert not image.getexif()

    @pytest.mark.parametrize("content", [b"", b"no", b"%PDF-1.4", b"<svg/>", picture()[:60]])
    def test_refuses_what_is_none(self, content: bytes) -> None:
        with pytest.raises(Unreadable, match="is not a readable image"):
            convert(content)

    def test_refuses_many_pixels_before_it_decodes_them(self) -> None:
        with pytest.raises(Unreadable, match="7000 x 6000 pixels"):
            convert(picture(7000, 6000, mode="1"))
