"""Coercion and the JSON form of port values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.ports import COERCIONS, PortType
from headgate.sdk.coerce import (
    ValueMismatch,
    clean_text,
    coerce,
    data_of,
    decode,
    encode,
    markdown_table,
    table_of,
    text_of,
)
from headgate.sdk.values import File, Message, Model, Table

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
files = st.builds(File, id=texts, name=texts, media_type=texts, size=st.integers(0, 10**9))
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    text=texts,
    files=st.tuples(files) | st.just(()),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(texts, unique=True, max_size=4))
    row = st.lists(json_values, min_size=len(columns), max_size=len(columns))
    return Table(columns=columns, rows=draw(st.lists(row, max_size=4)))


VALUES: dict[PortType, st.SearchStrategy[Any]] = {
    PortType.TEXT: texts,
    PortType.DATA: json_values,
    PortType.MESSAGE: messages,
    PortType.TABLE: tables(),
    PortType.FILE: files,
    PortType.MODEL: st.builds(Model, provider=texts, name=texts, params=st.dictionaries(texts, scalars, max_size=3)),
}
typed_values = st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind]))


class TestEncodeDecode:
    @given(typed_values)
    def test_gives_the_same_value_back(self, typed: tuple[PortType, Any]) -> None:
        kind, value = typed
        assert decode(encode(value, kind), kind) == value

    @pytest.mark.parametrize(
        ("value", "kind", "words"),
        [
            (3, PortType.TEXT, "A Text was expected; got a number"),
            ("x", PortType.TABLE, "A Table was expected; got text"),
            ({"role": "user"}, PortType.MESSAGE, "got an object"),
            (float("nan"), PortType.DATA, "value is nan"),
            ({"a": [1, {"b": float("inf")}]}, PortType.DATA, "value.a[1].b is inf"),
            ({"a": {1, 2}}, PortType.DATA, "value.a is set"),
            ({1: 2}, PortType.DATA, "key 1"),
            ([2**64], PortType.DATA, "value[0] is a whole number of more than 64 bits"),
            (b"x", PortType.DATA, "bytes"),
            (None, PortType.TOOL, "configuration"),
        ],
    )
    def test_names_what_is_not_json(self, value: object, kind: PortType, words: str) -> None:
        with pytest.raises(ValueMismatch) as caught:
            encode(value, kind)
        assert words in str(caught.value)

    def test_refuses_endless_nesting(self) -> None:
        loop: list[object] = []
        loop.append(loop)
        with pytest.raises(ValueMismatch, match="200 levels"):
            encode(loop, PortType.DATA)

    def test_replaces_what_no_store_can_hold(self) -> None:
        assert encode({"a\x00": ["b\ud800c", "\ud83d\ude00"]}, PortType.DATA) == {"a\ufffd": ["b\ufffdc", "😀"]}
        assert encode(Message(text="\x00"), PortType.MESSAGE) == {"role": "user", "text": "\ufffd", "files": []}

    @pytest.mark.parametrize(
        ("value", "kind", "words"),
        [
            (1, PortType.TEXT, "got a number"),
            ({"columns": ["a"], "rows": [[1, 2]]}, PortType.TABLE, "row 0 has 2 values for 1 columns"),
            ({"role": "king"}, PortType.MESSAGE, "role"),
            ("gpt", PortType.MODEL, "provider/name"),
            ({}, PortType.TOOL, "configuration"),
        ],
    )
    def test_names_what_does_not_decode(self, value: JsonValue, kind: PortType, words: str) -> None:
        with pytest.raises(ValueMismatch) as caught:
            decode(value, kind)
        assert words in str(caught.value)

    @given(st.text(st.characters(), max_size=20))
    def test_any_python_text_becomes_utf_8(self, text: str) -> None:
        assert b"\x00" not in clean_text(text).encode()


class TestCoerce:
    @given(typed_values)
    def test_lands_on_the_type_the_table_promises(self, typed: tuple[PortType, Any]) -> None:
        source, value = typed
        for start, target in COERCIONS:
            if start is not source or target is PortType.TABLE:
                continue
            assert encode(coerce(value, source, (target,)), target) is not None or target is PortType.DATA

    @given(tables())
    def test_a_table_with_rows_survives_the_way_over_data(self, table: Table) -> None:
        back = coerce(coerce(table, PortType.TABLE, (PortType.DATA,)), PortType.DATA, (PortType.TABLE,))
        assert back.rows == table.rows if table.columns else back.columns == []

    def test_leaves_an_accepted_value_alone(self) -> None:
        table = Table(columns=["a"])
        assert coerce(table, PortType.TABLE, (PortType.TEXT, PortType.TABLE)) is table

    def test_follows_the_table_of_coercions(self) -> None:
        table = Table(columns=["a"], rows=[[1]])
        message = Message(role="assistant", text="hi")
        assert coerce("hi", PortType.TEXT, (PortType.MESSAGE,)) == Message(role="user", text="hi")
        assert coerce(message, PortType.MESSAGE, (PortType.TEXT,)) == "hi"
        assert coerce("hi", PortType.DATA, (PortType.TEXT,)) == "hi"
        assert coerce({"ä": 1}, PortType.DATA, (PortType.TEXT,)) == '{\n  "ä": 1\n}'
        assert coerce([{"a": 1}], PortType.DATA, (PortType.TABLE,)) == table
        assert coerce(table, PortType.TABLE, (PortType.DATA,)) == [{"a": 1}]
        assert coerce(table, PortType.TABLE, (PortType.MESSAGE,)).text == "| a |\n| --- |\n| 1 |"
        assert coerce(message, PortType.MESSAGE, (PortType.DATA,)) == {"role": "assistant", "text": "hi", "files": []}
        assert coerce([1], PortType.DATA, (PortType.MESSAGE,)).text == "[\n  1\n]"

    @pytest.mark.parametrize(
        ("value", "source", "target", "words"),
        [
            ("[]", PortType.TEXT, PortType.DATA, "A Text cannot become Data. Put a ParseJSON node between them."),
            ("x", PortType.TEXT, PortType.MODEL, "A Text cannot become Model."),
            ({"a": 1}, PortType.DATA, PortType.TABLE, "this is an object. Use SelectData"),
            ([{"a": 1}, "b"], PortType.DATA, PortType.TABLE, "item 1 is text"),
        ],
    )
    def test_says_why_not(self, value: object, source: PortType, target: PortType, words: str) -> None:
        with pytest.raises(ValueMismatch) as caught:
            coerce(value, source, (target,))
        assert words in str(caught.value)


class TestMarkdownTable:
    def test_escapes_what_would_break_a_row(self) -> None:
        table = Table(columns=["a|b"], rows=[["x|y\nz"], [None], [{"k": [1]}], [True]])
        assert markdown_table(table).splitlines() == [
            "| a\\|b |", "| --- |", "| x\\|y<br>z |", "|  |", '| {"k": [1]} |', "| true |",
        ]  # fmt: skip

    def test_is_empty_without_columns(self) -> None:
        assert markdown_table(Table(columns=[])) == ""

    @given(tables())
    def test_has_one_line_a_row(self, table: Table) -> None:
        lines = markdown_table(table).split("\n")
        assert len(lines) == (len(table.rows) + 2 if table.columns else 1)


class TestOf:
    def test_text_of_takes_every_value(self) -> None:
        assert text_of(Message(text="m")) == "m"
        assert text_of(Table(columns=["a"])) == "| a |\n| --- |"
        assert '"name": "n"' in text_of(File(id="1", name="n"))

    def test_data_of_takes_every_value(self) -> None:
        assert data_of(Table(columns=["a"], rows=[[1]])) == [{"a": 1}]
        assert data_of(Message(text="m", files=(File(id="1", name="n"),))) == {
            "role": "user",
            "text": "m",
            "files": [{"id": "1", "name": "n", "media_type": "application/octet-stream", "size": 0}],
        }

    def test_table_of_keeps_the_order_of_first_appearance(self) -> None:
        assert table_of([{"b": 1}, {"a": 2, "b": 3}]) == Table(columns=["b", "a"], rows=[[1, None], [3, 2]])
