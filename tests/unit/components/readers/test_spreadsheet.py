"""Spreadsheets that were written by this and by other programs."""

import io
import zipfile
from collections.abc import Sequence
from datetime import date

import pytest
import xlsxwriter
from pydantic import JsonValue

from headgate.components.files.workbooks import NamedTable, sheet_names, workbook
from headgate.components.readers.document import Unreadable
from headgate.components.readers.reading import read_document
from headgate.components.readers.spreadsheet import read_sheet
from headgate.foundation import extras
from headgate.foundation.extras import ExtraNotInstalled
from headgate.sdk import ComponentError, Table

COLUMNS = ["text", "whole", "decimal", "yes", "day", "moment", "nothing"]
ROW: list[JsonValue] = ["=SUM(A1:A9)", 12, 0.1, True, "2026-01-31", "2026-01-31T08:30:00", None]
FORMATS = pytest.mark.parametrize("extension", [".xlsx", ".ods"])


def book(extension: str, *rows: Sequence[JsonValue], columns: Sequence[str] = COLUMNS, dates: bool = True) -> bytes:
    table = Table(columns=list(columns), rows=[list(row) for row in rows])
    return workbook([NamedTable("First", table)], extension, dates=dates)


class TestRoundTrip:
    @FORMATS
    def test_keeps_types(self, extension: str) -> None:
        sheet = read_sheet(book(extension, ROW), name="a")
        assert sheet.table == Table(columns=COLUMNS, rows=[ROW])
        assert (sheet.names, sheet.name) == (["First"], "First")

    @FORMATS
    @pytest.mark.parametrize(
        "text",
        ["@cmd", "+1", "-2+3", "https://example.org", "007", "a  b", " edge ", "two\nlines", "<b>&", "Åsa"],
    )
    def test_keeps_text_that_is_no_formula_link_or_number(self, extension: str, text: str) -> None:
        assert read_sheet(book(extension, [text], columns=["a"]), name="a").table.rows == [[text]]

    def test_writes_tabs_as_the_formats_do(self) -> None:
        assert read_sheet(book(".xlsx", ["a\tb"], columns=["a"]), name="a").table.rows == [["a\tb"]]
        with zipfile.ZipFile(io.BytesIO(book(".ods", ["a\tb"], columns=["a"]))) as package:
            assert b"<text:p>a<text:tab/>b</text:p>" in package.read("content.xml")

    @FORMATS
    def test_writes_no_formula(self, extension: str) -> None:
        with zipfile.ZipFile(io.BytesIO(book(extension, ["=1+1"], columns=["=2+2"]))) as package:
            parts = b"".join(package.read(name) for name in package.namelist())
        assert b"<f>" not in parts
        assert b"table:formula" not in parts

    @FORMATS
    def test_leaves_dates_as_text_when_asked(self, extension: str) -> None:
        written = book(extension, ["2026-01-31"], columns=["a"], dates=False)
        assert read_sheet(written, name="a").table.rows == [["2026-01-31"]]
        with zipfile.ZipFile(io.BytesIO(written)) as package:
            assert b"date-value" not in b"".join(package.read(name) for name in package.namelist())

    @FORMATS
    @pytest.mark.parametrize("text", ["2026-13-01", "1899-01-01", "2026-02-30T10:00:00"])
    def test_leaves_what_is_no_date_there(self, extension: str, text: str) -> None:
        assert read_sheet(book(extension, [text], columns=["a"]), name="a").table.rows == [[text]]

    @FORMATS
    def test_writes_several_sheets(self, extension: str) -> None:
        tables = [NamedTable("A", Table(columns=["n"], rows=[[1]])), NamedTable("B", Table(columns=["n"], rows=[[2]]))]
        written = workbook(tables, extension)
        assert read_sheet(written, name="a", sheet="B").table.rows == [[2]]
        assert read_sheet(written, name="a", sheet="2").table.rows == [[2]]
        document = read_document(written, name=f"a{extension}")
        assert document.data == {"A": [{"n": 1}], "B": [{"n": 2}]}
        assert document.table == Table(columns=["n"], rows=[[1]])
        assert document.text == "## A\n\n| n |\n| --- |\n| 1 |\n\n## B\n\n| n |\n| --- |\n| 2 |"

    def test_refuses_too_long_a_cell(self) -> None:
        with pytest.raises(ComponentError, match="A cell has 32768 characters"):
            book(".xlsx", ["x" * 32_768], columns=["a"])


class TestSheetNames:
    def test_are_valid_and_unique(self) -> None:
        tables = [NamedTable(name, Table(columns=[])) for name in ("", "a/b", "A B", "x" * 40, "x" * 50, "'q'")]
        names = sheet_names(tables)
        assert names == ["Sheet1", "a b", "A B (2)", "x" * 31, f"{'x' * 27} (2)", "q"]


class TestReadSheet:
    def test_reads_from_a_header_row(self) -> None:
        stream = io.BytesIO()
        with xlsxwriter.Workbook(stream) as made:
            sheet = made.add_worksheet()
            sheet.write_row(0, 0, ["Report of January"])
            sheet.write_row(2, 0, ["a", "", "a"])
            sheet.write_row(3, 0, [1, 2, 3])
            sheet.write_row(5, 0, [4])
        found = read_sheet(stream.getvalue(), name="a", header_row=3)
        assert found.table == Table(columns=["a", "column_2", "a_2"], rows=[[1, 2, 3], [4, None, None]])
        without = read_sheet(stream.getvalue(), name="a", header_row=0)
        assert without.table.columns == ["column_1", "column_2", "column_3"]

    def test_reads_dates_of_excel(self) -> None:
        stream = io.BytesIO()
        with xlsxwriter.Workbook(stream) as made:
            made.add_worksheet().write_datetime(1, 0, date(2026, 1, 31), made.add_format({"num_format": "dd/mm/yy"}))
        assert read_sheet(stream.getvalue(), name="a", header_row=1).table.rows == [["2026-01-31"]]

    def test_names_the_sheets_there_are(self) -> None:
        with pytest.raises(Unreadable, match=r"has no sheet 'Frist'; did you mean 'First'\?") as refused:
            read_sheet(book(".xlsx", ROW), name="a.xlsx", sheet="Frist")
        assert "First" in refused.value.remedy

    @pytest.mark.parametrize("content", [b"", b"no", b"PK\x03\x04 cut", b"\xd0\xcf\x11\xe0" + b"\0" * 600])
    def test_refuses_what_is_none(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            read_sheet(content, name="a.xlsx")

    def test_refuses_a_bomb(self) -> None:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package, package.open("xl/a.xml", "w") as part:
            for _ in range(21):
                part.write(b"0" * 10_000_000)
        with pytest.raises(Unreadable, match="unpacks to more than 200 MB"):
            read_sheet(stream.getvalue(), name="a.xlsx")

    def test_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(extras.EXTRAS, "sheets", ("not_there",))
        with pytest.raises(ExtraNotInstalled) as missing:
            read_sheet(book(".ods", ROW), name="a.ods")
        assert missing.value.remedy == "Install them with: pip install 'headgate[sheets]'"
