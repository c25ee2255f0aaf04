"""Names that are taken, found in the source of a component."""

import pytest

from headgate.sdk.reserved import reserved_names

TEMPLATE = '''from headgate.sdk import Component, Text, field, output
import headgate.sdk as sdk


class Prices(Component):
    """Finds prices."""

    {field}

    {mark}
    async def {method}(self) -> Text:
        """The price."""
        return "1"
'''


def code(*, field: str = "item: str = field()", mark: str = "@output()", method: str = "get_price") -> str:
    return TEMPLATE.format(field=field, mark=mark, method=method)


class TestReservedNames:
    def test_are_none_in_a_well_named_component(self) -> None:
        assert reserved_names(code()) == ()
        assert reserved_names(code(mark='@output(name="price")')) == ()

    @pytest.mark.parametrize(
        ("mark", "method", "said"),
        [
            ('@output(name="component_as_tool")', "get_price", "'component_as_tool' is reserved for the tool"),
            ('@sdk.output(name="tool")', "get_price", "'tool' is reserved for the tool"),
            ("@output()", "to_toolkit", "'to_toolkit' is reserved for the tool"),
            ("@output", "to_toolkit", "'to_toolkit' is reserved for the tool"),
            ('@output(name="file_ids")', "get_price", "'file_ids' is reserved"),
            ("@output()", "produce", "no output can be named 'produce'"),
            ("@output()", "item", "'item' is an input and an output"),
        ],
    )
    def test_of_outputs_are_told_with_their_line(self, mark: str, method: str, said: str) -> None:
        (found,) = reserved_names(code(mark=mark, method=method))
        assert said in found.message
        assert (found.line, found.column) == (11, 5)
        assert found.remedy

    def test_of_inputs_are_told_with_the_way_out(self) -> None:
        (found,) = reserved_names(code(field="template: str = field()"))
        assert "no field can be named 'template'" in found.message
        assert 'field(name="template")' in found.remedy
        assert found.line == 8

    @pytest.mark.parametrize("field", ['label: ClassVar[str] = "Prices"', 'label = "Prices"', 'category: str = "web"'])
    def test_leave_class_variables_alone(self, field: str) -> None:
        assert reserved_names(code(field=field)) == ()

    def test_leave_methods_alone_that_are_no_outputs(self) -> None:
        assert reserved_names(code(mark="@staticmethod", method="produce")) == ()

    @pytest.mark.parametrize("broken", ["class Broken(", "\0", "(" * 5000])
    def test_are_none_in_what_is_not_python(self, broken: str) -> None:
        assert reserved_names(broken) == ()
