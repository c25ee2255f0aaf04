"""Components for spreadsheets."""

from pathlib import PurePosixPath

from pydantic import PrivateAttr

from headgate.components.files.file_names import safe_name
from headgate.components.files.workbooks import MEDIA_TYPES, NamedTable, workbook
from headgate.components.isolated.calls import read_sheet
from headgate.components.readers.spreadsheet import Sheet
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.sdk import Component, ComponentError, Data, File, Table, field, output


class ReadSpreadsheet(Component):
    """Reads one sheet of a spreadsheet (XLSX, XLS, XLSB or ODS) as a table, with numbers, dates and booleans."""

    label = "Read spreadsheet"
    category = "data"
    icon = "sheet"
    needs_extra = "sheets"
    keywords = (
        "excel", "xlsx", "xls", "ods", "calc", "worksheet", "workbook", "sheet", "tab", "rows", "columns", "import",
        "cells", "libreoffice", "google sheets",
    )  # fmt: skip

    file: File = field(label="File", help="The spreadsheet to read.", main=True)
    sheet: str = field(
        default="",
        label="Sheet",
        help="Name of the sheet, or its position from 1; empty is the first.",
        port=False,
        max_length=100,
    )
    header_row: int = field(
        default=1, label="Header row", help="Row with the column names, from 1; 0 for none.", ge=0, le=1000
    )
    _sheet: Sheet | None = PrivateAttr(default=None)

    @output(name="table", label="Table", help="The rows of the sheet; dates as ISO 8601 text, empty cells as null.")
    async def table(self) -> Table:
        """Return the sheet as a table. Raises `Unreadable`."""
        return (await self._read()).table

    @output(help="The names of all sheets, in order.")
    async def sheets(self) -> Data:
        """Return the names of the sheets."""
        return list((await self._read()).names)

    async def _read(self) -> Sheet:
        """Read once for all outputs."""
        if self._sheet is None:
            content = await self.ctx.files.read(self.file)
            self._sheet = await read_sheet(
                self.ctx, content, name=self.file.name, sheet=self.sheet, header_row=self.header_row
            )
            self.ctx.log("The sheet was read.", sheet=self._sheet.name, rows=len(self._sheet.table.rows))
        return self._sheet


class WriteSpreadsheet(Component):
    """Writes tables to a spreadsheet to download, XLSX or ODS, one sheet each; text never becomes a formula."""

    label = "Write spreadsheet"
    category = "output"
    icon = "sheet"
    effect = True
    needs_extra = "sheets"
    keywords = (
        "excel", "xlsx", "ods", "workbook", "worksheet", "export", "save table", "report", "download", "libreoffice",
        "sheets",
    )  # fmt: skip

    tables: list[Table] = field(label="Tables", help="One sheet per table, in this order.", main=True, many=True)
    name: str = field(
        default="tables.xlsx", label="File name", help="With the extension .xlsx or .ods.", port=False, max_length=1000
    )
    sheet_names: list[str] = field(
        default_factory=list,
        label="Sheet names",
        help="Names of the sheets, in the order of the tables; missing ones become Sheet1, Sheet2...",
        port=False,
    )
    dates: bool = field(
        default=True, label="Dates", help="Write text such as 2026-01-31 as a date.", port=False, advanced=True
    )

    @output(help="The saved spreadsheet.")
    async def file(self) -> File:
        """Write off the event loop, then store."""
        name = safe_name(self.name, default="tables.xlsx")
        extension = PurePosixPath(name).suffix.lower()
        if extension not in MEDIA_TYPES:
            raise ComponentError(
                f"WriteSpreadsheet: '{name}' does not end in .xlsx or .ods.", remedy="Add the extension.", field="name"
            )
        titles = self.sheet_names + [""] * len(self.tables)
        sheets = [NamedTable(title, table) for title, table in zip(titles, self.tables, strict=False)]
        content = await run_in_flow_thread(workbook, sheets, extension, dates=self.dates)
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(name, content, MEDIA_TYPES[extension])
