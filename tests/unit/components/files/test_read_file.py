"""Reading files of a run."""

from typing import cast

import pytest

from headgate.components.files.read_file import ReadFile
from headgate.components.readers.document import Unreadable
from headgate.foundation.errors import NotFound
from headgate.sdk import File, RunContext, Table
from headgate.sdk.testing import StepHarness
from tests.unit.components.readers.samples import pdf


class TestReadFile:
    async def test_reads_a_table(self) -> None:
        harness = StepHarness(files={"a.csv": "namn;antal\nÅsa;3\n".encode("cp1252")})
        outputs = await harness.run(ReadFile, {"file": harness.ctx.input.files[0]})
        assert outputs == {
            "text": "| namn | antal |\n| --- | --- |\n| Åsa | 3 |",
            "table": Table(columns=["namn", "antal"], rows=[["Åsa", 3]]),
            "data": [{"namn": "Åsa", "antal": 3}],
        }

    async def test_reads_text_and_has_no_table(self) -> None:
        harness = StepHarness(files={"a.pdf": pdf("Hello")})
        values = {"file": harness.ctx.input.files[0]}
        assert (await harness.run(ReadFile, values, outputs=["text"]))["text"] == "Hello"
        with pytest.raises(Unreadable, match=r"'a\.pdf' contains no table"):
            await harness.run(ReadFile, values, outputs=["table"])

    async def test_gives_also_what_was_not_expected(self) -> None:
        harness = StepHarness(files={"a.csv": b"n\n3\n"})
        component = ReadFile.create({"file": harness.ctx.input.files[0]})
        component.attach(cast("RunContext", harness.ctx))
        component.expect_outputs(["text"])
        assert await component.produce("text") == "| n |\n| --- |\n| 3 |"
        assert await component.produce("table") == Table(columns=["n"], rows=[[3]])

    async def test_says_that_the_file_is_gone(self) -> None:
        with pytest.raises(NotFound):
            await StepHarness().run(ReadFile, {"file": File(id="x", name="gone.txt")})
