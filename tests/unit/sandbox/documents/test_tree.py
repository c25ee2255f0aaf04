from typing import Any

import pytest

from headgate.sandbox.documents.tree import MOST_DEPTH, Cleaner, TooDeep, Unusable, plain_text

NO_ATTRIBUTES: list[Any] = ["", [], []]


def words(text: str) -> dict[str, Any]:
    return {"t": "Str", "c": text}


def paragraph(*inlines: dict[str, Any]) -> dict[str, Any]:
    return {"t": "Para", "c": list(inlines)}


def clean(*blocks: dict[str, Any], **options: Any) -> tuple[list[Any], Cleaner]:
    def image_of(target: str) -> str:
        if target != "here.png":
            raise Unusable("it is not here")
        return "image-1.png"

    cleaner = Cleaner(image_of, **options)
    return cleaner.clean({"pandoc-api-version": [1, 23], "meta": {"title": "x"}, "blocks": list(blocks)})[
        "blocks"
    ], cleaner


class TestCleaner:
    @pytest.mark.parametrize("kind", ["typst", "openxml", "latex", "html"])
    def test_lets_no_raw_markup_of_any_format_through(self, kind: str) -> None:
        blocks, _ = clean(
            {"t": "RawBlock", "c": [kind, '#read("/etc/passwd")']},
            paragraph(words("a"), {"t": "RawInline", "c": [kind, "#evil"]}),
        )
        assert "Raw" not in str(blocks)

    def test_turns_br_into_a_line_break(self) -> None:
        blocks, _ = clean(paragraph({"t": "RawInline", "c": ["html", "<BR />"]}))
        assert blocks == [paragraph({"t": "LineBreak"})]

    def test_keeps_the_words_of_html_and_not_its_scripts(self) -> None:
        html = "<div><p>Hej &amp; hå</p><script>evil()</script><p>två</p></div>"
        blocks, cleaner = clean({"t": "RawBlock", "c": ["html", html]})
        assert blocks == [paragraph(words("Hej & hå")), paragraph(words("två"))]
        assert cleaner.notes == ("HTML tags were removed, their text was kept: div, p, script.",)

    def test_takes_attributes_that_a_writer_would_set_as_code(self) -> None:
        attributes = ["id", ["a"], [["typst:text:fill", 'read("/etc/passwd")']]]
        blocks, _ = clean(
            paragraph({"t": "Span", "c": [attributes, [words("a")]]}),
            {"t": "CodeBlock", "c": [["", ['python"]; evil'], []], "x"]},
            {"t": "Div", "c": [attributes, [paragraph(words("b"))]]},
        )
        assert blocks == [
            paragraph({"t": "Span", "c": [NO_ATTRIBUTES, [words("a")]]}),
            {"t": "CodeBlock", "c": [NO_ATTRIBUTES, "x"]},
            paragraph(words("b")),
        ]

    def test_keeps_the_language_of_code(self) -> None:
        block = {"t": "CodeBlock", "c": [["", ["c++"], []], "x"]}
        assert clean(block)[0] == [block]

    @pytest.mark.parametrize(
        "target", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "#gone", "other.md"]
    )
    def test_makes_links_to_nowhere_plain_text(self, target: str) -> None:
        link = {"t": "Link", "c": [NO_ATTRIBUTES, [words("a")], [target, ""]]}
        assert clean(paragraph(link))[0] == [paragraph(words("a"))]

    @pytest.mark.parametrize("target", ["https://example.org", "mailto:a@example.org", "#here"])
    def test_keeps_links_that_lead_somewhere(self, target: str) -> None:
        link = {"t": "Link", "c": [NO_ATTRIBUTES, [words("a")], [target, ""]]}
        heading = {"t": "Header", "c": [2, ["here", [], []], [words("Här")]]}
        blocks, cleaner = clean(heading, paragraph(link))
        assert blocks == [heading, paragraph(link)]
        assert cleaner.heading == "Här"

    def test_replaces_an_image_by_its_words_and_says_so(self) -> None:
        def image(target: str) -> dict[str, Any]:
            return {"t": "Image", "c": [NO_ATTRIBUTES, [words("alt")], [target, ""]]}

        blocks, cleaner = clean(paragraph(image("here.png"), image("x.png"), image("x.png")))
        instead = {"t": "Emph", "c": [words("alt")]}
        kept = {"t": "Image", "c": [NO_ATTRIBUTES, [words("alt")], ["image-1.png", ""]]}
        assert blocks == [paragraph(kept, instead, instead)]
        assert cleaner.notes == ("The image 'x.png' was replaced by its text: it is not here (2 times).",)

    def test_sets_formulas_as_typed_when_asked_to(self) -> None:
        math = {"t": "Math", "c": [{"t": "InlineMath"}, "x^2"]}
        assert clean(paragraph(math))[0] == [paragraph(math)]
        assert clean(paragraph(math), math_as_code=True)[0] == [paragraph({"t": "Code", "c": [NO_ATTRIBUTES, "x^2"]})]

    def test_refuses_what_is_nested_too_deep(self) -> None:
        block = paragraph(words("a"))
        for _ in range(2 * MOST_DEPTH):
            block = {"t": "BlockQuote", "c": [block]}
        with pytest.raises(TooDeep):
            clean(block)


class TestPlainText:
    def test_joins_words_and_leaves_out_footnotes(self) -> None:
        note = {"t": "Note", "c": [paragraph(words("not"))]}
        strong = {"t": "Strong", "c": [words("b"), {"t": "Code", "c": [NO_ATTRIBUTES, "c"]}]}
        assert plain_text([words("a"), {"t": "Space"}, strong, note]) == "a bc"
