"""Text recognition (OCR) of pictures and scans, by the real engine in the processes of the product."""

import base64
import io
import struct
import zlib
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

from headgate.components.files.images import ConvertImage
from headgate.components.files.read_file import ReadFile
from headgate.components.isolated import RECOGNISED, calls, recognition
from headgate.components.readers.document import Unreadable
from headgate.sandbox.libraries import ISOLATED, LANGUAGE_DATA_VARIABLE
from headgate.sandbox.limits import ISOLATED_LIMITS, ISOLATED_SIZE
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import ComponentError, RunContext
from headgate.sdk.testing import StepHarness
from tests.integration.components.test_isolated import Context
from tests.support.pdfs import pdf_of
from tests.support.pictures_of_text import ENGLISH, SWEDISH, picture, require_recognition, scan


@pytest.fixture
async def ctx() -> AsyncIterator[RunContext]:
    require_recognition()
    context = Context()
    context.pool = SandboxPool(limits=ISOLATED_LIMITS, size=ISOLATED_SIZE, insecure=True, scan=False, hosts=ISOLATED)
    yield cast("RunContext", context)
    await context.pool.aclose()


def words(text: str) -> list[str]:
    return text.split()


def mixed(*parts: bytes) -> bytes:
    """The pages of several PDF files."""
    writer = PdfWriter()
    for part in parts:
        writer.append(PdfReader(io.BytesIO(part)))
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


class TestPictures:
    @pytest.mark.parametrize("lines", [ENGLISH, SWEDISH], ids=["English", "Swedish"])
    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
    async def test_of_text_are_read(self, ctx: RunContext, lines: tuple[str, ...], kind: str) -> None:
        read = await calls.read_document(ctx, picture(*lines, kind=kind), name=f"letter.{kind.lower()}")
        assert words(read.text) == words(" ".join(lines))
        marks = cast("dict[str, Any]", read.data)["recognised"]
        assert [mark["page"] for mark in marks] == [1]
        assert 80 <= marks[0]["confidence"] <= 100
        assert read.notes == (f"Page 1 read by text recognition (OCR): confidence {marks[0]['confidence']} %.",)

    async def test_are_turned_upright_and_their_transparent_parts_are_white(self, ctx: RunContext) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        turned = Image.open(io.BytesIO(picture(*ENGLISH))).rotate(90, expand=True)
        stream = io.BytesIO()
        turned.save(stream, "JPEG", exif=exif)
        assert "Invoice number 4711" in (await calls.read_document(ctx, stream.getvalue(), name="a.jpg")).text
        seen = Image.open(io.BytesIO(picture(*ENGLISH))).convert("L")
        ink = Image.new("RGBA", seen.size, (0, 0, 0, 0))
        ink.putalpha(seen.point(lambda value: 255 - value))
        stream = io.BytesIO()
        ink.save(stream, "PNG")
        assert "Invoice number 4711" in (await calls.read_document(ctx, stream.getvalue(), name="a.png")).text

    async def test_without_text_are_an_error_that_says_so(self, ctx: RunContext) -> None:
        with pytest.raises(Unreadable, match=r"'a\.png' has no text on 1 page\. .*all are blank"):
            await calls.read_document(ctx, picture(), name="a.png")
        noise = io.BytesIO()
        Image.effect_noise((600, 400), 120).save(noise, "PNG")
        with pytest.raises(Unreadable, match=r"Page 1 without text that text recognition \(OCR\) can read reliably"):
            await calls.read_document(ctx, noise.getvalue(), name="a.png")

    async def test_that_are_broken_or_bombs_are_refused(self, ctx: RunContext) -> None:
        with pytest.raises(Unreadable, match=r"'a\.png' is not a readable image"):
            await calls.read_document(ctx, picture(*ENGLISH)[:100], name="a.png")
        head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
        pixels = zlib.compress(b"\0" * (60_000 * 7_501), 9)
        with pytest.raises(Unreadable, match="could be decompression bomb"):
            await calls.read_document(ctx, png_of(head, pixels), name="a.png")
        assert (await calls.read_document(ctx, picture(*ENGLISH), name="a.png")).text

    async def test_with_a_data_bomb_behind_a_small_head_end_in_their_bounds(self, ctx: RunContext) -> None:
        """The picture says that it is small, and its data unpacks to gigabytes."""
        head = struct.pack(">IIBBBBB", 400, 200, 8, 2, 0, 0, 0)
        with pytest.raises(Unreadable):
            await calls.read_document(ctx, png_of(head, zlib.compress(b"\0" * 500_000_000, 9)), name="a.png")


def png_of(head: bytes, pixels: bytes) -> bytes:
    parts = ((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )


def page_of(image: bytes, *, box: str) -> bytes:
    """A PDF of one page that an image fills."""
    draw = b"600 0 0 800 0 0 cm /I Do"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R ".encode()
        + b"/Resources << /XObject << /I 5 0 R >> >> >>",
        f"<< /Length {len(draw)} >>\nstream\n".encode() + draw + b"\nendstream",
        image,
    ]
    content, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = (
        f"xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    )
    return content + end.encode()


class TestScans:
    async def test_are_read_page_by_page_beside_pages_with_text(self, ctx: RunContext) -> None:
        content = mixed(pdf_of(["Typed page"]), scan(ENGLISH, (), SWEDISH))
        read = await calls.read_document(ctx, content, name="a.pdf")
        data = cast("dict[str, Any]", read.data)
        assert data["pages"][0] == "Typed page"
        assert words(data["pages"][1]) == words(" ".join(ENGLISH))
        assert data["pages"][2] == ""
        assert words(data["pages"][3]) == words(" ".join(SWEDISH))
        assert read.text == "\n\n".join(page for page in data["pages"] if page)
        assert [mark["page"] for mark in data["recognised"]] == [2, 4]
        assert len(read.notes) == 1
        assert read.notes[0].startswith("Pages 2, 4 read by text recognition (OCR): confidence ")

    async def test_of_several_frames_are_read(self, ctx: RunContext) -> None:
        read = await calls.read_document(ctx, scan(ENGLISH, SWEDISH, kind="TIFF"), name="a.tiff")
        assert "Invoice number 4711" in read.text
        assert "Köparen betalar åtta kronor" in read.text

    async def test_in_one_language_only(self, ctx: RunContext) -> None:
        read = await calls.read_document(ctx, scan(SWEDISH), name="a.pdf", languages="swe")
        assert "Öppet även på lördag." in read.text
        with pytest.raises(Unreadable, match="no data of the language 'klingon'") as refused:
            await calls.read_document(ctx, scan(SWEDISH), name="a.pdf", languages="swe+klingon")
        assert "eng" in refused.value.remedy
        with pytest.raises(Unreadable, match="no data of the language"):
            await calls.read_document(ctx, scan(SWEDISH), name="a.pdf", languages="../swe")

    async def test_a_page_that_fails_does_not_lose_the_others(
        self, ctx: RunContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        isolated = cast("Any", ctx).isolated

        async def failing(function: str, arguments: Any, **more: Any) -> Any:
            broken = function == RECOGNISED and arguments["page"] == 1
            content = base64.b64encode(b"%PDF-1.7 broken").decode() if broken else arguments["content"]
            return await isolated(function, {**arguments, "content": content}, **more)

        monkeypatch.setattr(ctx, "isolated", failing)
        read = await calls.read_document(ctx, scan(ENGLISH, SWEDISH), name="a.pdf")
        assert "Köparen" in read.text
        assert "Invoice" not in read.text
        assert read.notes[1].startswith("Page 1 of 'a.pdf' cannot be drawn: ")

    async def test_that_are_bombs_end_in_their_bounds(self, ctx: RunContext) -> None:
        """A picture of four billion points in a page of some kilobytes, and a page of a thousand kilometres."""
        packed = zlib.compress(b"\0" * (60_000 * 7_500), 9)
        head = (
            "<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 1 "
            f"/Filter /FlateDecode /Length {len(packed)} >>\nstream\n"
        ).encode()
        for content in (
            page_of(head + packed + b"\nendstream", box="0 0 600 800"),
            page_of(head + packed + b"\nendstream", box="0 0 2834645669 2834645669"),
        ):
            with pytest.raises(Unreadable, match="has no text on 1 page"):
                await calls.read_document(ctx, content, name="a.pdf")
        assert (await calls.read_document(ctx, scan(ENGLISH), name="a.pdf")).text

    async def test_have_a_limit_of_pages(self, ctx: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recognition, "MOST_PAGES", 1)
        read = await calls.read_document(ctx, scan(ENGLISH, SWEDISH), name="a.pdf")
        assert "Köparen" not in read.text
        assert read.notes[1] == "Page 2 not read: text recognition (OCR) ends after 1 pages of a document."


class TestWithoutAnEngine:
    @pytest.mark.parametrize("missing", ["packages", "data"])
    async def test_pages_are_named_with_what_to_install(
        self, ctx: RunContext, monkeypatch: pytest.MonkeyPatch, missing: str, tmp_path: Any
    ) -> None:
        if missing == "packages":
            monkeypatch.setattr(recognition, "is_installed", lambda _extra: False)
        else:
            monkeypatch.setenv(LANGUAGE_DATA_VARIABLE, str(tmp_path))
        remedy = "pip install 'headgate[ocr]'" if missing == "packages" else "apt install tesseract-ocr-eng"
        read = await calls.read_document(ctx, mixed(pdf_of(["Typed"]), scan(ENGLISH, SWEDISH)), name="a.pdf")
        assert read.text == "Typed"
        assert read.notes[0].startswith("Pages 2, 3 without text, probably scanned, not read. Text recognition (OCR) ")
        assert remedy in read.notes[0]
        for name, content in (("a.pdf", scan(ENGLISH)), ("a.png", picture(*ENGLISH))):
            with pytest.raises(Unreadable, match="has no text to read") as refused:
                await calls.read_document(ctx, content, name=name)
            assert remedy in refused.value.remedy

    async def test_tables_need_none(self, ctx: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recognition, "is_installed", lambda _extra: False)
        assert (await calls.read_document(ctx, scan(ENGLISH), name="a.pdf", members=["table"])).table is None


class TestComponents:
    async def test_read_file_reads_scans_and_logs_how_reliably(self) -> None:
        require_recognition()
        harness = StepHarness(files={"a.pdf": scan(SWEDISH)})
        ran = await harness.run(ReadFile, {"file": harness.ctx.input.files[0]}, outputs=["text"])
        assert "Köparen betalar åtta kronor" in ran["text"]
        assert any("read by text recognition (OCR)" in str(entry) for entry in harness.ctx.logs)

    async def test_convert_image_gives_the_text(self) -> None:
        require_recognition()
        harness = StepHarness(files={"a.png": picture(*ENGLISH)})
        ran = await harness.run(ConvertImage, {"image": harness.ctx.input.files[0]})
        assert "Invoice number 4711" in str(ran["text"])
        with pytest.raises(ComponentError):
            await harness.run(ConvertImage, {"image": harness.ctx.files.add("b.png", b"broken")})
