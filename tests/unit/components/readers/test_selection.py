"""CSS selectors and XPath."""

import pytest

from headgate.components.readers.document import Unreadable
from headgate.components.readers.selection import select_html, select_xml
from headgate.sdk import ComponentError, Table

PAGE = (
    "<ul><li class='item' id=one><a href='/a' class='x y'>Tea &amp; more</a><b>4</b></li>"
    "<li class=item><a>Jam</a></li></ul><script>no()</script>"
)
XML = """<?xml version="1.0" encoding="ISO-8859-1"?><r xmlns:n="urn:n"><b id="1"><t>Åsa</t></b><b id="2"><t>Bo</t></b>
<n:c>3</n:c><!-- no --></r>"""


class TestSelectHtml:
    @pytest.mark.parametrize(
        ("selector", "value", "expected"),
        [
            ("li.item > a", "text", ["Tea & more", "Jam"]),
            ("li a", "href", ["/a", None]),
            ("a.x", "class", ["x y"]),
            ("b", "html", ["<b>4</b>"]),
            ("h1", "text", []),
        ],
    )
    def test_returns_a_value_per_element(self, selector: str, value: str, expected: list[str | None]) -> None:
        assert select_html(PAGE, selector, value=value, columns={}).rows == [[one] for one in expected]

    def test_returns_columns(self) -> None:
        table = select_html(PAGE, "li", value="", columns={"name": "a", "link": "a@href", "id": "@id", "price": "b"})
        assert table == Table(
            columns=["name", "link", "id", "price"], rows=[["Tea & more", "/a", "one", "4"], ["Jam", None, None, None]]
        )

    @pytest.mark.parametrize("selector", ["li[", "::nope", "", ":nth-child(x)"])
    def test_refuses_what_is_no_selector(self, selector: str) -> None:
        with pytest.raises(ComponentError, match="is not valid"):
            select_html(PAGE, selector, value="text", columns={})

    def test_refuses_too_many_elements(self) -> None:
        with pytest.raises(ComponentError, match="more than 10000 elements"):
            select_html("<p>" * 10_001, "p", value="href", columns={})


class TestSelectXml:
    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("//b/t/text()", ["Åsa", "Bo"]),
            ("//b/@id", ["1", "2"]),
            ("count(//b)", [2]),
            ("1 div 4", [0.25]),
            ("boolean(//x)", [False]),
            ("string(//b[2])", ["Bo"]),
            ("//b[1]", [{"tag": "b", "text": "Åsa", "attributes": {"id": "1"}}]),
            ("//n:c", [{"tag": "c", "text": "3", "attributes": {}}]),
            ("//x", []),
            ("1 div 0", [None]),
        ],
    )
    def test_returns_values(self, expression: str, expected: list[object]) -> None:
        assert select_xml(XML.encode(), expression, {"n": "urn:n"}) == expected

    @pytest.mark.parametrize("expression", ["//b[", "//m:c", "nope()", "document('/etc/passwd')", ""])
    def test_refuses_what_is_no_expression(self, expression: str) -> None:
        with pytest.raises(ComponentError, match="is not valid"):
            select_xml(XML.encode(), expression, {"n": "urn:n"})

    @pytest.mark.parametrize(
        "declared", ['<!ENTITY a "b">', '<!ENTITY a SYSTEM "file:///etc/passwd">', '<!ENTITY % p SYSTEM "http://x/">']
    )
    def test_refuses_entities(self, declared: str) -> None:
        with pytest.raises(Unreadable, match=r"declares entities|is not XML"):
            select_xml(f"<!DOCTYPE r [{declared}]><r>&a;</r>".encode(), "//r", {})

    @pytest.mark.parametrize("document", ["", "<a>", "no", "<a></b>"])
    def test_refuses_what_is_no_xml(self, document: str) -> None:
        with pytest.raises(Unreadable):
            select_xml(document.encode(), "//a", {})
