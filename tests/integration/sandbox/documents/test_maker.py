import asyncio
import io
import os
import signal
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import docx
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from headgate.sandbox.documents import maker
from headgate.sandbox.documents.errors import (
    DocumentNotMade,
    DocumentsNotInstalled,
    DocumentTimedOut,
    DocumentTooLarge,
)
from headgate.sandbox.documents.job import Format, Job
from headgate.sandbox.documents.maker import MOST_MARKDOWN_BYTES, make_document
from tests.support.images import data_uri, png

REPORT = """# Årsrapport för Malmö

Text med **fetstil** och `kod`, se [avsnittet](#tal).

## Tal

| Område | Kr |
|:--|--:|
| Skola | 12 450 |
| Vård<br>omsorg | 8 900 |

1. först
   - inuti

```python
def summa(x): return x
```
"""
MARKUP = [*"#[](){}`$\\*_~^|>/<=@%å'\"\n\u202e\x00", "```", "\n\n", "- ", "&amp;", "text", "[^1]", "[^1]: ", "| --- |"]
FORMATS: tuple[Format, ...] = ("pdf", "docx")


def text_of(content: bytes, format_: Format) -> str:
    """All words of a document, as its own readers see them."""
    if format_ == "pdf":
        return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)
    document = docx.Document(io.BytesIO(content))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)


async def made(markdown: str, format_: Format = "pdf", **options: object) -> str:
    """The text of what a Markdown text became."""
    return text_of((await make_document(Job(markdown, format_, **options))).content, format_)  # type: ignore[arg-type]


class TestMakeDocument:
    @pytest.mark.parametrize("format_", FORMATS)
    async def test_holds_every_word_swedish_letters_among_them(self, format_: Format) -> None:
        text = await made(REPORT, format_)
        for words in ("Årsrapport för Malmö", "fetstil", "Område", "12 450", "Vård", "först", "inuti", "def summa"):
            assert words in text

    async def test_sets_title_and_page_numbers_in_a_pdf(self) -> None:
        result = await make_document(Job("ord \n\n" * 2000, "pdf", title="Räkning 7"))
        reader = PdfReader(io.BytesIO(result.content))
        assert result.media_type == "application/pdf"
        assert reader.metadata is not None
        assert reader.metadata.title == "Räkning 7"
        assert reader.pages[0].extract_text().startswith("Räkning 7")
        assert f"2 / {len(reader.pages)}" in reader.pages[1].extract_text()

    async def test_takes_the_title_of_the_properties_from_the_first_heading(self) -> None:
        reader = PdfReader(io.BytesIO((await make_document(Job(REPORT, "pdf"))).content))
        assert reader.metadata is not None
        assert reader.metadata.title == "Årsrapport för Malmö"

    async def test_embeds_its_own_fonts(self) -> None:
        result = await make_document(Job("Hej `kod` עברית हिन्दी ไทย", "pdf"))
        fonts = PdfReader(io.BytesIO(result.content)).pages[0]["/Resources"]["/Font"]  # type: ignore[index]
        names = " ".join(str(one.get_object()["/BaseFont"]) for one in fonts.values())
        for family in ("NotoSans", "DejaVuSansMono", "NotoSansHebrew", "NotoSansDevanagari", "NotoSansThai"):
            assert family in names

    async def test_says_when_a_script_has_no_font(self) -> None:
        notes = (await make_document(Job("你好", "pdf"))).notes
        assert any("headgate[documents-cjk]" in note for note in notes)

    async def test_styles_a_word_document(self) -> None:
        result = await make_document(Job(REPORT, "docx", title="Räkning 7"))
        document = docx.Document(io.BytesIO(result.content))
        assert document.core_properties.title == "Räkning 7"
        assert [one.text for one in document.paragraphs if one.style and one.style.name == "Heading 2"] == ["Tal"]
        assert document.styles["Normal"].font.name == "Calibri"
        assert "NUMPAGES" in document.sections[0].footer._element.xml
        assert "w:tblBorders" in document.tables[0]._tbl.xml

    @pytest.mark.parametrize("format_", FORMATS)
    async def test_makes_the_same_bytes_of_the_same_text(self, format_: Format) -> None:
        first, second = [await make_document(Job(REPORT, format_)) for _ in range(2)]
        assert first.content == second.content

    @pytest.mark.parametrize("format_", FORMATS)
    async def test_sets_images_from_the_text_and_from_given_files(self, format_: Format) -> None:
        markdown = f"![a]({data_uri(png())}) ![b](bild%20ett.png) ![c](https://example.org/c.png)"
        result = await make_document(Job(markdown, format_, images={"bild ett.png": png(6, 2)}))
        if format_ == "pdf":
            assert len(PdfReader(io.BytesIO(result.content)).pages[0].images) == 2
        else:
            names = zipfile.ZipFile(io.BytesIO(result.content)).namelist()
            assert len([name for name in names if name.startswith("word/media/")]) == 2
        assert result.notes == (
            (
                "The image 'https://example.org/c.png' was replaced by its text: it is on the web, and nothing is"
                " downloaded."
            ),
        )

    async def test_still_sets_a_text_whose_formula_or_image_typst_refuses(self) -> None:
        broken = png()[:60] + bytes(40)
        result = await make_document(Job(f"före ![bild]({data_uri(broken)}) efter", "pdf"))
        assert "före" in text_of(result.content, "pdf")
        assert any("could not be set" in note for note in result.notes)

    async def test_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        await make_document(Job("x", "pdf"))
        assert os.listdir(tmp_path) == []  # noqa: PTH208 - one folder

    async def test_is_refused_by_name_when_the_extra_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(maker, "find_spec", lambda name: None)
        with pytest.raises(DocumentsNotInstalled, match=r"pip install 'headgate\[documents\]'"):
            await make_document(Job("x", "pdf"))


class TestLimits:
    async def test_refuses_a_text_over_the_limit_before_anything_starts(self) -> None:
        with pytest.raises(DocumentTooLarge):
            await make_document(Job("x" * (MOST_MARKDOWN_BYTES + 1), "pdf"))

    async def test_stops_what_takes_too_long_with_all_its_processes(self) -> None:
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        with pytest.raises(DocumentTimedOut):
            await make_document(Job("*a **b " * 400_000, "pdf"), seconds=1.0)
        after = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
        assert after == []

    async def test_stops_when_the_step_is_cancelled(self) -> None:
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        making = asyncio.create_task(make_document(Job("*a **b " * 400_000, "pdf")))
        while not [one for one in psutil.Process().children() if one.pid not in before]:  # noqa: ASYNC110 - a process
            await asyncio.sleep(0.01)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        assert [one for one in psutil.Process().children(recursive=True) if one.pid not in before] == []

    async def test_tells_of_a_converter_that_was_killed(self) -> None:
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        making = asyncio.create_task(make_document(Job("*a **b " * 400_000, "pdf")))
        while not (started := [one for one in psutil.Process().children() if one.pid not in before]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        os.kill(started[0].pid, signal.SIGKILL)
        with pytest.raises(DocumentNotMade, match="split or simplify"):
            await making

    @pytest.mark.parametrize("markdown", [">" * 3000 + " x", "- " * 1500 + "x", "[" * 20_000, "#" * 100_000])
    async def test_survives_deep_nesting(self, markdown: str) -> None:
        with suppress(DocumentNotMade):
            assert (await make_document(Job(markdown, "pdf"))).content.startswith(b"%PDF-")


class TestHostileText:
    """Nothing that a text says is carried out."""

    CANARY = "canary-9f2c"

    @pytest.fixture
    def secret(self, tmp_path: Path) -> Path:
        path = tmp_path / "secret.txt"
        path.write_text(self.CANARY)
        return path

    @pytest.mark.parametrize("format_", FORMATS)
    async def test_reads_no_file_whatever_the_text_asks_for(self, secret: Path, format_: Format) -> None:
        asks = [
            f'#read("{secret}")',
            f'```{{=typst}}\n#read("{secret}")\n```',
            f'`#read("{secret}")`{{=typst}}',
            f'#include "{secret}"',
            f'#import "{secret}": *',
            f"\\input{{{secret}}}",
            f"$\\input{{{secret}}}$",
            f'$"#read(\\"{secret}\\")"$',
            f'$\\text{{" + read("{secret}") + "}}$',
            f"![x]({secret})",
            f"![x](file://{secret})",
            f'<img src="{secret}">',
            f"<!--#include file={secret} -->",
            f"[x]{{typst:text:size='read(\"{secret}\")'}}",
            f"# x {{typst:text:size='read(\"{secret}\")'}}",
            f'---\ntitle: x\nheader-includes: |\n  #read("{secret}")\ninclude-before: \'#read("{secret}")\'\n---\n\nx',
            f'[x](<#label"); #read("{secret}") //>)',
            f'# "#read("{secret}")"\n\n[x](#readsecret)',
            f'```python"); #read("{secret}")\nx\n```',
            f'| a |\n|---|\n| ], [#read("{secret}") |',
            f'![x]({data_uri(b"<svg/>", "image/svg+xml")}"){{read={secret}}}',
            f'\\u{{23}}read("{secret}") &#35;read("{secret}")',
        ]
        result = await make_document(Job("\n\n".join(asks), format_, title=f'#read("{secret}")'))
        assert self.CANARY not in text_of(result.content, format_)
        assert self.CANARY.encode() not in result.content

    async def test_the_process_itself_could_not_read_it_either(self, secret: Path, tmp_path: Path) -> None:
        """As if a text had got past pandoc: the same walls, asked directly."""
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import subprocess, socket\n"
            "from headgate.sandbox.documents.child import _Press\n"
            "from headgate.sandbox.documents import confinement\n"
            "press = _Press(Path(sys.argv[2]))\n"
            "answers = []\n"
            "def attempt(what):\n"
            "    try: what(); answers.append('done')\n"
            "    except OSError as error: answers.append(type(error).__name__)\n"
            "attempt(lambda: Path(sys.argv[3]).read_text())\n"
            "attempt(lambda: subprocess.run(['/bin/true']))\n"
            "confinement.confine_calls()\n"
            "attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n"
            "print(*answers)\n"
        )
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        source = str(Path(maker.__file__).parents[3])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", code, source, str(scratch), str(secret), stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        assert said.decode().split() == ["PermissionError"] * 3

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.sampled_from(MARKUP),
            max_size=60,
        )
    )
    async def test_sets_any_jumble_of_markup(self, pieces: list[str]) -> None:
        result = await make_document(Job("".join(pieces), "pdf"))
        assert result.content.startswith(b"%PDF-")
