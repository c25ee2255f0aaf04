"""Documents made by a step: the component, its names, its images."""

import io
from typing import Any

import docx
import pytest
from pypdf import PdfReader

from headgate.components.files.documents import MakeDocument
from headgate.components.files.illustrations import images_for
from headgate.foundation.errors import Cancelled
from headgate.sdk import File, Message, RunInput, Table
from headgate.sdk.testing import StepHarness
from tests.support.images import png


async def made(content: object, **params: Any) -> tuple[File, bytes]:
    harness = StepHarness()
    file = (await harness.run(MakeDocument, {"content": content, **params}))["file"]
    return file, await harness.ctx.files.read(file)


class TestMakeDocument:
    async def test_makes_a_pdf_with_its_title(self) -> None:
        file, content = await made("## Åtgärder", name="plan", title="Plan")
        assert (file.name, file.media_type) == ("plan.pdf", "application/pdf")
        assert PdfReader(io.BytesIO(content)).pages[0].extract_text().split() == ["Plan", "Åtgärder", "1", "/", "1"]

    async def test_makes_a_word_document_of_a_table(self) -> None:
        file, content = await made(Table(columns=["a"], rows=[["å"]]), format="docx", name="t.docx")
        assert file.name == "t.docx"
        assert docx.Document(io.BytesIO(content)).tables[0].cell(1, 0).text == "å"

    @pytest.mark.parametrize(
        ("content", "words"), [({"a": 1}, '"a": 1'), ([{"a": 1}], "a"), (Message(text="hej"), "hej")]
    )
    async def test_takes_data_and_messages(self, content: object, words: str) -> None:
        assert words in PdfReader(io.BytesIO((await made(content))[1])).pages[0].extract_text()

    async def test_saves_nothing_once_the_run_is_cancelled(self) -> None:
        harness = StepHarness()
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(MakeDocument, {"content": "x"})
        assert harness.ctx.files.saved == []

    async def test_says_in_the_log_what_it_left_out(self) -> None:
        harness = StepHarness()
        await harness.run(MakeDocument, {"content": "![kurva](https://example.org/k.png)"})
        assert "it is on the web, and nothing is downloaded" in str(harness.ctx.logs)


class TestImagesFor:
    async def test_finds_images_by_name_and_id_among_given_uploaded_and_made_files(self) -> None:
        harness = StepHarness()
        files = harness.ctx.files
        given = files.add("given one.png", png())
        uploaded = files.add("up.png", png(5, 5))
        made = await files.save("made.png", png(6, 6), "image/png")
        unused = files.add("unused.png", png())
        harness.ctx.input = RunInput(files=(uploaded, unused))
        markdown = f"![a](given%20one.png) ![b]({uploaded.id}) ![c](made.png)"
        found = await images_for(harness.ctx, markdown, [given])
        assert found == {"given one.png": png(), uploaded.id: png(5, 5), "made.png": png(6, 6)}
        assert made.name in found

    async def test_reads_nothing_for_a_text_without_images(self) -> None:
        harness = StepHarness()
        harness.ctx.input = RunInput(files=(File(id="gone", name="a.png", media_type="image/png"),))
        assert await images_for(harness.ctx, "a.png") == {}

    async def test_leaves_out_files_that_are_no_images(self) -> None:
        harness = StepHarness()
        harness.ctx.input = RunInput(files=(harness.ctx.files.add("a.txt", b"x"),))
        assert await images_for(harness.ctx, "![a](a.txt)") == {}
