"""The component class: template, outputs, creation, tool schema."""

import pytest
from jsonschema import Draft202012Validator

from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, Message, Table, field, output, tool_name
from headgate.sdk.testing import FakeContext
from tests.unit.sdk.samples import Sample


class TestTemplate:
    def test_reads_the_fields_from_the_class(self) -> None:
        template = Sample.template()
        kinds = {one.name: (one.kind, one.types, one.required) for one in template.fields}
        assert kinds == {
            "text": (FieldKind.TEXT, (PortType.TEXT, PortType.MESSAGE), True),
            "times": (FieldKind.INTEGER, (), False),
            "schema": (FieldKind.JSON, (PortType.DATA,), False),
            "mode": (FieldKind.SELECT, (), False),
            "key": (FieldKind.SECRET, (), False),
            "model": (FieldKind.MODEL, (PortType.MODEL,), False),
            "tools": (FieldKind.TOOLS, (PortType.TOOL,), False),
            "parts": (FieldKind.TEXT, (PortType.TEXT, PortType.TABLE), False),
        }
        assert template.label == "Say again"
        assert template.description == "Says a thing several times."
        assert template.keywords == ("echo", "parrot")

    def test_does_not_depend_on_the_order_that_python_keeps_a_union_in(self) -> None:
        class First(Component):
            """One order."""

            value: str | Data | Table = field()

        class Second(Component):
            """The other, for which `typing` may hand out the first."""

            value: Table | Data | str = field()
            chosen: Table | Data | str = field(types=(PortType.DATA, PortType.TABLE, PortType.TEXT))

        everyday = (PortType.TEXT, PortType.DATA, PortType.TABLE)
        assert [one.types for one in First.template().fields] == [everyday]
        assert [one.types for one in Second.template().fields] == [
            everyday,
            (PortType.DATA, PortType.TABLE, PortType.TEXT),
        ]
        assert {one.kind for one in Second.template().fields} == {FieldKind.TEXT}

    def test_says_of_a_list_that_is_written_in_place_that_it_holds_texts(self) -> None:
        class Lists(Component):
            """Lists of several kinds."""

            names: list[str] = field(default_factory=list, port=False)
            numbers: list[int] = field(default_factory=list, port=False)
            own: list[str] = field(default_factory=list, port=False, schema={"type": "array"})

        names, numbers, own = (one.schema_ for one in Lists.template().fields)
        assert (names, numbers, own) == ({"type": "array", "items": {"type": "string"}}, None, {"type": "array"})

    def test_refuses_types_that_the_annotation_does_not_have(self) -> None:
        class Wrong(Component):
            """Says table, takes text."""

            value: str = field(types=(PortType.TABLE,))

        with pytest.raises(TypeError, match="value: types says"):
            Wrong.template()

    def test_lists_outputs_in_source_order_under_their_own_names(self) -> None:
        outputs = Sample.template().outputs
        assert [(out.name, out.type, out.branch) for out in outputs] == [
            ("text", PortType.TEXT, False),
            ("data", PortType.DATA, False),
            ("loud", PortType.TEXT, True),
            ("late", PortType.TEXT, False),
        ]

    def test_refuses_an_output_without_a_port_type(self) -> None:
        class Wrong(Component):
            """Gives bytes."""

            @output()
            def raw(self) -> bytes:
                """Bytes."""
                return b""

        with pytest.raises(TypeError, match=r"Wrong\.raw: annotate the return"):
            Wrong.template()

    def test_an_override_keeps_its_place(self) -> None:
        class Louder(Sample):
            """Shouts."""

            @output(name="text")
            def give_text(self) -> str:
                """Shouted."""
                return "HEY"

        assert [out.name for out in Louder.template().outputs] == ["text", "data", "loud", "late"]


class TestCreate:
    def test_takes_a_field_by_its_public_name(self) -> None:
        assert Sample.create({"text": "a", "schema": {"type": "object"}}).shape == {"type": "object"}

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({}, "say (Sample): field 'text' is empty. Set 'text' or connect something to it."),
            ({"text": "a", "times": 9}, "field 'times'"),
            ({"text": "a", "shape": {}}, "field 'shape'"),
            ({"text": "a", "schema": 3}, "field 'schema'"),
        ],
    )
    def test_names_the_node_and_the_field(self, values: dict[str, object], words: str) -> None:
        with pytest.raises(ComponentError) as caught:
            Sample.create(values, node_id="say")
        assert words in str(caught.value)


class TestInlineText:
    class Taker(Component):
        """Takes text."""

        text: str = field(default="")
        maybe: str | None = field(default=None)
        said: str | Message = field(default="")
        names: list[str] = field(default_factory=list, port=False)
        either: str | Data = field(default=None)
        headers: dict[str, str] = field(default_factory=dict, port=False)

    @pytest.mark.parametrize(
        ("name", "value", "taken"),
        [
            ("text", 1000, "1000"),
            ("text", 0.5, "0.5"),
            ("text", True, "true"),
            ("text", {"a": 1}, '{\n  "a": 1\n}'),
            ("text", {"role": "user", "text": "hi"}, "hi"),
            ("maybe", [1], "[\n  1\n]"),
            ("maybe", None, None),
            ("said", {"text": "hi"}, Message(text="hi")),
            ("said", {"a": 1}, '{\n  "a": 1\n}'),
            ("names", [1, "x"], ["1", "x"]),
            ("names", '["a", "b"]', ["a", "b"]),
            ("headers", ' {"a": "b"}', {"a": "b"}),
            ("either", '{"a": 1}', '{"a": 1}'),
            ("either", 5, 5),
            ("either", {"a": 1}, {"a": 1}),
        ],
    )
    def test_becomes_what_the_field_takes(self, name: str, value: object, taken: object) -> None:
        assert getattr(self.Taker.create({name: value}), name) == taken

    def test_names_a_message_that_is_none(self) -> None:
        with pytest.raises(ComponentError, match="Taker: field 'role'"):
            self.Taker.create({"said": {"role": "king", "text": "hi"}})


class TestProduce:
    async def test_runs_sync_async_and_extra_outputs(self) -> None:
        step = Sample.create({"text": Message(text="a")})
        assert await step.produce("text") == "a a"
        assert await step.produce("data") == [2, "quiet"]
        assert await step.produce("late") == "late!"

    async def test_runs_the_override(self) -> None:
        class Louder(Sample):
            """Shouts."""

            @output(name="text")
            def give_text(self) -> str:
                """Shouted."""
                return "HEY"

        assert await Louder.create({"text": "a"}).produce("text") == "HEY"

    async def test_names_an_output_that_is_not_there(self) -> None:
        class Bare(Component):
            """Nothing."""

        with pytest.raises(ComponentError, match="Bare has no output 'model_dump'"):
            await Bare().produce("model_dump")

    def test_says_that_it_is_outside_a_run(self) -> None:
        with pytest.raises(ComponentError, match="outside a run"):
            _ = Sample.create({"text": "a"}).ctx

    def test_has_the_context_it_was_given(self) -> None:
        ctx = FakeContext()
        assert Sample.create({"text": "a"}).attach(ctx).ctx is ctx


class TestToolSchema:
    def test_holds_the_tool_mode_fields_only(self) -> None:
        schema = Sample.tool_schema()
        Draft202012Validator.check_schema(schema)
        assert set(schema["properties"]) == {"text", "times"}  # type: ignore[arg-type]
        assert schema["required"] == ["text"]
        assert "headgate" not in str(schema)


class TestToolName:
    @pytest.mark.parametrize(
        ("type_name", "name"), [("HTTPRequest", "http_request"), ("URL", "url"), ("SelectData", "select_data")]
    )
    def test_keeps_acronyms_together(self, type_name: str, name: str) -> None:
        assert tool_name(type_name) == name
