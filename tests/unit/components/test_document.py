"""The reference page of the components."""

from pathlib import Path

from headgate.components.document import components_page, example

PAGE = Path(__file__).parents[3] / "docs/reference/components.md"


class TestComponentsPage:
    def test_is_current(self) -> None:
        message = "run: python -m headgate.components.document docs/reference/components.md"
        assert PAGE.read_text(encoding="utf-8") == components_page(), message

    def test_shows_fields_outputs_and_an_example(self) -> None:
        page = components_page()
        assert "| **value** ● | text | Text, Data, Table |  | The value to check and pass on. |" in page
        assert "| true | Data, branch | The value, when the condition holds. |" in page
        assert "  large.true -> tell.payload" in page
        assert "Tool: `http_request`(`method`, `url`, `body`)." in page


class TestExample:
    def test_is_empty_for_a_component_of_somebody_else(self) -> None:
        assert example("NoSuchComponent") == ""
        assert example("../../../etc/passwd") == ""
