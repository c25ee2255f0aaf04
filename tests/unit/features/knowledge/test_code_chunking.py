"""Passages of source code."""

from headgate.features.knowledge.passages.chunking import count_tokens, divide_code

BODY = "    value = compute(1, 2, 3)\n"


def source(*lengths: int) -> tuple[str, list[tuple[int, str]]]:
    """Functions with as many lines, and where they begin."""
    text, sections = "", []
    for number, length in enumerate(lengths):
        sections.append((len(text), f"f{number}"))
        text += f"def f{number}():\n{BODY * length}"
    return text, sections


class TestDivideCode:
    def test_makes_each_function_a_passage_with_its_name(self) -> None:
        text, sections = source(20, 20, 20)
        chunks = divide_code(text, sections, most_tokens=400)
        assert [chunk.context for chunk in chunks] == ["f0", "f1", "f2"]
        assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text

    def test_joins_small_ones_and_names_all(self) -> None:
        text, sections = source(1, 1, 1)
        (chunk,) = divide_code(text, sections, most_tokens=400)
        assert chunk.context == "f0, f1, f2"

    def test_cuts_large_ones_after_lines(self) -> None:
        text, sections = source(1, 100)
        chunks = divide_code(text, sections, most_tokens=100)
        assert {chunk.context for chunk in chunks[1:]} == {"f1"}
        assert all(count_tokens(text, chunk.start, chunk.end) <= 100 for chunk in chunks)
        assert all(text[chunk.end - 1] == "\n" for chunk in chunks)
        assert "".join(text[chunk.core : chunk.end] for chunk in chunks) == text

    def test_cuts_what_was_not_parsed_by_lines(self) -> None:
        text, _ = source(50)
        chunks = divide_code(text, [(0, "")], most_tokens=100)
        assert len(chunks) > 3
        assert {chunk.context for chunk in chunks} == {""}
