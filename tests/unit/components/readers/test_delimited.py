"""CSV in the wild."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.files.saving import to_csv
from headgate.components.readers import delimited
from headgate.components.readers.delimited import read_delimited, sniffed
from headgate.components.readers.document import Unreadable
from headgate.sdk import Table


def read(text: str, **options: str) -> Table:
    return read_delimited(text, name="a.csv", **options)


class TestReadDelimited:
    @pytest.mark.parametrize(
        ("text", "columns", "rows"),
        [
            ("a,b\n1,x\n", ["a", "b"], [[1, "x"]]),
            ("a;b\r\n1,5;x, y\r\n", ["a", "b"], [["1,5", "x, y"]]),
            ("a\tb\n1\t2\n", ["a", "b"], [[1, 2]]),
            ("a|b\n1|2\n", ["a", "b"], [[1, 2]]),
            ('name,note\nAnn,"one, two\nthree"\n', ["name", "note"], [["Ann", "one, two\nthree"]]),
            ("1,2\n3,4\n", ["column_1", "column_2"], [[1, 2], [3, 4]]),
            ("a,a,\n1,2,3\n", ["a", "a_2", "column_3"], [[1, 2, 3]]),
            ("a,b\n1\n1,2,3\n\n,\n", ["a", "b", "column_3"], [[1, None, None], [1, 2, 3]]),
            ("name\nx\n", ["name"], [["x"]]),
            ("", [], []),
        ],
    )
    def test_reads(self, text: str, columns: list[str], rows: list[list[object]]) -> None:
        found = read(text)
        assert (found.columns, found.rows) == (columns, rows)

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (["007", "1"], ["007", "1"]),
            (["1.9", "1.10"], ["1.9", "1.10"]),
            (["9.50", "10.00"], [9.5, 10.0]),
            (["1.5", "2"], [1.5, 2.0]),
            (["-1", "0", ""], [-1, 0, None]),
            (["1e5", "2"], ["1e5", "2"]),
            (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
            (["x", ""], ["x", ""]),
            (["+46 70", "1"], ["+46 70", "1"]),
        ],
    )
    def test_makes_numbers_only_of_what_writes_back_the_same(self, cells: list[str], values: list[object]) -> None:
        table = read("v,k\n" + "".join(f"{cell},x\n" for cell in cells))
        assert [row[0] for row in table.rows] == values

    def test_takes_a_given_delimiter(self) -> None:
        assert read("a:b\n1:2\n", delimiter=":").columns == ["a", "b"]

    def test_bounds_rows_and_fields(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(Unreadable, match="field larger than field limit"):
            read('a\n"' + "x" * 200_000)
        monkeypatch.setattr(delimited, "MOST_ROWS", 2)
        with pytest.raises(Unreadable, match="more than 2 rows"):
            read("a\n1\n2\n3\n4\n")

    @given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60))
    def test_gives_a_table_of_any_text(self, text: str) -> None:
        table = read(text)
        assert len(set(table.columns)) == len(table.columns)

    @given(
        st.lists(
            st.lists(st.sampled_from(["x", "a b", 'q"', "1", "2.5", "å;b", "c,d"]), min_size=2, max_size=2), max_size=5
        )
    )
    def test_reads_what_save_file_writes(self, rows: list[list[str]]) -> None:
        table = Table(columns=["one", "two"], rows=[list(row) for row in rows])
        found = read(to_csv(table), delimiter=",")
        assert [[str(cell).removesuffix(".0") for cell in row] for row in found.rows] == rows


class TestSniffed:
    @pytest.mark.parametrize(
        ("sample", "delimiter"),
        [("a;b;c\n1,5;2;3\n", ";"), ("a,b\n", ","), ("plain", ","), ("a|b\nc|d", "|"), ("", ",")],
    )
    def test_finds_the_delimiter(self, sample: str, delimiter: str) -> None:
        assert sniffed(sample) == delimiter
