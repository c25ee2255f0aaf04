"""Where parts of a recognised text are on their page."""

from headgate.components.readers.document import Layout
from headgate.features.knowledge.passages.scans import ScannedPage

TEXT = "Due on Friday.\n\nDue on Monday."
WORDS = (
    ("Due", 10, 10, 40, 20), ("on", 45, 10, 60, 20), ("Friday.", 65, 10, 100, 20), ("noise", 0, 25, 5, 28),
    ("Due", 10, 30, 40, 40), ("on", 45, 30, 60, 40), ("Monday.", 65, 30, 100, 40),
)  # fmt: skip
PAGE = ScannedPage(TEXT, Layout(200, 100, WORDS))


class TestScannedPage:
    def test_marks_lines_of_words_that_follow_each_other(self) -> None:
        assert PAGE.marks(0, len(TEXT)) == {
            "width": 200,
            "height": 100,
            "boxes": [
                {"left": 10, "top": 10, "right": 100, "bottom": 20},
                {"left": 10, "top": 30, "right": 100, "bottom": 40},
            ],
        }

    def test_marks_the_second_of_two_equal_words(self) -> None:
        marks = PAGE.marks(TEXT.rindex("Due"), len(TEXT))
        assert marks is not None
        assert [box["top"] for box in marks["boxes"]] == [30]

    def test_marks_nothing_without_words(self) -> None:
        assert PAGE.marks(15, 16) is None
        assert ScannedPage("", Layout(1, 1, ())).marks(0, 5) is None
