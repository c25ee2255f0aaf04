"""Archives, images, charts, QR codes and spreadsheets as steps."""

import io
import tarfile
import zipfile
from typing import Any

import pytest
from PIL import Image

from headgate.components.files import archives
from headgate.components.files.archives import CreateArchive, ExtractArchive
from headgate.components.files.charts import Chart
from headgate.components.files.images import ConvertImage
from headgate.components.files.qr_codes import QRCode
from headgate.components.files.saving import SaveFile
from headgate.components.files.spreadsheets import ReadSpreadsheet, WriteSpreadsheet
from headgate.components.readers.document import Unreadable
from headgate.foundation import extras
from headgate.foundation.extras import ExtraNotInstalled
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness
from tests.unit.components.readers.test_archive import zipped
from tests.unit.components.readers.test_charting import SALES
from tests.unit.components.readers.test_image import picture


async def saved(harness: StepHarness, component: Any, values: dict[str, Any]) -> tuple[str, str, bytes]:
    file = (await harness.run(component, values, outputs=["file"]))["file"]
    return file.name, file.media_type, await harness.ctx.files.read(file)


class TestExtractArchive:
    async def test_stores_matching_files_under_safe_names(self) -> None:
        harness = StepHarness(files={"a.zip": zipped()})
        values = {"archive": harness.ctx.input.files[0], "pattern": "*c.txt"}
        outputs = await harness.run(ExtractArchive, values)
        assert [row[:2] for row in outputs["entries"].rows][2] == ["../../etc/c.txt", 5]
        assert [(file["name"], file["path"]) for file in outputs["files"]] == [("c.txt", "../../etc/c.txt")]
        assert await harness.ctx.files.read(outputs["file"]) == b"three"

    async def test_extracts_in_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(archives, "_BATCH_BYTES", 4)
        harness = StepHarness(files={"a.zip": zipped()})
        outputs = await harness.run(ExtractArchive, {"archive": harness.ctx.input.files[0]}, outputs=["files"])
        assert [file["name"] for file in outputs["files"]] == ["a.txt", "b.txt", "c.txt"]

    async def test_stops_at_its_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        harness = StepHarness(files={"a.zip": zipped()})
        values = {"archive": harness.ctx.input.files[0], "most_files": 2}
        with pytest.raises(Unreadable, match=r"3 files with 11 bytes of 'a\.zip' match"):
            await harness.run(ExtractArchive, values)
        with pytest.raises(Unreadable, match=r"no file that matches '\*\.csv'"):
            await harness.run(ExtractArchive, values | {"pattern": "*.csv"}, outputs=["file"])
        assert harness.ctx.files.saved == []


class TestCreateArchive:
    @pytest.mark.parametrize("name", ["all.zip", "all.tar.gz"])
    async def test_packs_files_with_their_own_names(self, name: str) -> None:
        harness = StepHarness(files={"a.txt": b"1"})
        file = harness.ctx.input.files[0]
        found, _, content = await saved(harness, CreateArchive, {"files": [file, file], "name": name})
        assert found == name
        if name.endswith("zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                assert archive.namelist() == ["a.txt", "a-2.txt"]
        else:
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                assert tar.getnames() == ["a.txt", "a-2.txt"]

    async def test_needs_an_extension_it_knows(self) -> None:
        with pytest.raises(ComponentError, match=r"does not end in \.zip"):
            await StepHarness().run(CreateArchive, {"files": [], "name": "a.rar"})


class TestPictures:
    async def test_converts_an_image(self) -> None:
        harness = StepHarness(files={"a.png": picture()})
        values = {"image": harness.ctx.input.files[0], "width": 100, "format": "webp"}
        outputs = await harness.run(ConvertImage, values, outputs=["file", "data"])
        assert (outputs["file"].name, outputs["file"].media_type) == ("a.webp", "image/webp")
        assert outputs["data"] == {
            "format": "webp", "width": 100, "height": 50, "original": {"format": "png", "width": 400, "height": 200},
        }  # fmt: skip

    async def test_draws_a_chart(self) -> None:
        name, media_type, content = await saved(StepHarness(), Chart, {"table": SALES, "name": "sales"})
        assert (name, media_type) == ("sales.png", "image/png")
        assert Image.open(io.BytesIO(content)).size == (900, 500)

    @pytest.mark.parametrize("format_", ["png", "svg"])
    async def test_makes_a_qr_code(self, format_: str) -> None:
        values = {"text": "https://example.org", "format": format_}
        name, _, content = await saved(StepHarness(), QRCode, values)
        assert name == f"qr-code.{format_}"
        assert content.startswith(b"\x89PNG" if format_ == "png" else b"<?xml")

    async def test_says_that_a_text_is_too_long_for_a_qr_code(self) -> None:
        with pytest.raises(ComponentError, match="cannot be encoded"):
            await StepHarness().run(QRCode, {"text": "å" * 2_000, "error_correction": "high"})


class TestSpreadsheets:
    @pytest.mark.parametrize("extension", ["xlsx", "ods"])
    async def test_are_read_as_they_were_written(self, extension: str) -> None:
        harness = StepHarness()
        values = {"tables": [SALES, Table(columns=["a"], rows=[[1]])], "name": f"x.{extension}"}
        file = (await harness.run(WriteSpreadsheet, values))["file"]
        outputs = await harness.run(ReadSpreadsheet, {"file": file, "sheet": "Sheet2"})
        assert (outputs["table"].rows, outputs["sheets"]) == ([[1]], ["Sheet1", "Sheet2"])

    async def test_are_saved_of_any_table(self) -> None:
        harness = StepHarness()
        file = (await harness.run(SaveFile, {"content": '[{"a": 1}]', "name": "x.xlsx"}))["file"]
        assert (await harness.run(ReadSpreadsheet, {"file": file}, outputs=["table"]))["table"].rows == [[1]]

    async def test_say_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(extras.EXTRAS, "sheets", ("not_there",))
        with pytest.raises(ExtraNotInstalled, match="WriteSpreadsheet requires packages that are not installed"):
            await StepHarness().run(WriteSpreadsheet, {"tables": [SALES]})

    async def test_need_an_extension_they_know(self) -> None:
        with pytest.raises(ComponentError, match=r"does not end in \.xlsx or \.ods"):
            await StepHarness().run(WriteSpreadsheet, {"tables": [SALES], "name": "x.csv"})
