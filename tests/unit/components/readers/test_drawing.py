"""Where texts are on the pages of PDFs, and pages as pictures."""

import io
import time
from itertools import pairwise

import pytest
from PIL import Image, ImageChops
from pypdf import PdfReader, PdfWriter
from pypdf.generic import RectangleObject

from headgate.components.readers import drawing
from headgate.components.readers.document import Unreadable
from headgate.components.readers.drawing import Box, Marks, draw_page, find_marks
from headgate.components.readers.pdf import read_pdf
from tests.support.pdfs import pdf_of

OPENING, PARKING = "Opening hours are 8 to 17.", "Parking costs 5 EUR."


def turned(content: bytes, degrees: int = 0, crop: tuple[float, float, float, float] | None = None) -> bytes:
    """The same file, its pages rotated and cropped."""
    writer, stream = PdfWriter(), io.BytesIO()
    writer.append(PdfReader(io.BytesIO(content)))
    for page in writer.pages:
        page.rotate(degrees)
        if crop is not None:
            page.cropbox = RectangleObject(crop)
    writer.write(stream)
    return stream.getvalue()


def lines(*texts: str) -> bytes:
    """A page with these lines, 20 points apart."""
    return pdf_of([") Tj 0 -20 Td (".join(texts)])


def mark_of(content: bytes, part: str, text: str = "") -> Marks | None:
    """Where a part of the first page is, as our reader reads the page unless a text is given."""
    text = text or read_pdf(content, name="x.pdf").text
    start = text.index(part)
    return find_marks(content, pages={1: text}, places=[(1, start, start + len(part))])[0]


def ink(content: bytes) -> Box:
    """What is drawn on the first page, in points."""
    image = Image.open(io.BytesIO(draw_page(content, name="x.pdf", page=1))).convert("L")
    drawn = ImageChops.invert(image).point(lambda value: 255 if value > 100 else 0).getbbox()
    assert drawn is not None
    left, top, right, bottom = (side / 2 for side in drawn)
    return Box(left, top, right, bottom)


class TestMarks:
    @pytest.mark.parametrize("degrees", [0, 90, 180, 270])
    @pytest.mark.parametrize("crop", [None, (50.0, 600.0, 500.0, 770.0)], ids=["whole", "cropped"])
    def test_are_where_the_text_is_drawn(self, degrees: int, crop: tuple[float, float, float, float] | None) -> None:
        content = turned(pdf_of([OPENING]), degrees, crop)
        mark = mark_of(content, OPENING)
        assert mark is not None
        assert len(mark.boxes) == 1
        assert mark.boxes[0] == pytest.approx(ink(content), abs=2)
        sides = (612, 792) if crop is None else (450, 170)
        assert (mark.width, mark.height) == (sides if degrees % 180 == 0 else sides[::-1])

    def test_are_one_box_a_line_and_of_the_part_only(self) -> None:
        content = lines("The first line ends", "the second one begins here.", "A third line.")
        mark = mark_of(content, "line ends\nthe second")
        assert mark is not None
        (left, top, _, bottom), second = mark.boxes
        assert left > 72 + 20, "not the words before it"
        assert (second[0], second[1]) == pytest.approx((72, top + 20), abs=2)
        assert bottom <= second[1]

    def test_follow_the_order_of_a_text_that_another_reader_wrote(self) -> None:
        """Another order, white space, hyphens and ligatures; the same line twice."""
        content = lines("Total 5", "An effi-", "cient office", "Total 5")
        text = "An e\ufb03cient o\ufb03ce\nTotal   5\nTotal 5"
        mark = mark_of(content, "An e\ufb03cient o\ufb03ce", text)
        assert mark is not None
        assert [round(box[1] / 20) for box in mark.boxes] == [4, 5]
        totals = [len(text) - 17, len(text) - 7]
        second, first = find_marks(content, pages={1: text}, places=[(1, start, start + 7) for start in totals])
        assert second is not None
        assert first is not None, "looked for from the beginning, when it is not below the line before it"
        assert second.boxes[0][1] - first.boxes[0][1] == pytest.approx(60, abs=1)

    def test_are_none_where_the_text_is_not_on_the_page(self) -> None:
        content = pdf_of([OPENING, PARKING])
        places = [(1, 0, 7), (2, 0, 7), (3, 0, 7)]
        absent, present, beyond = find_marks(content, pages={1: PARKING, 2: PARKING, 3: PARKING}, places=places)
        assert absent is None, "a picture of text"
        assert present is not None
        assert beyond is None, "there is no such page"

    def test_are_bounded_in_number_and_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        content = lines(*(f"line {number}" for number in range(30)))
        text = read_pdf(content, name="x.pdf").text
        monkeypatch.setattr(drawing, "MOST_BOXES", 5)
        mark = mark_of(content, text)
        assert mark is not None
        assert len(mark.boxes) == 5
        assert all(one[1] < two[1] for one, two in pairwise(mark.boxes))
        monkeypatch.setattr(drawing, "SECONDS", -time.monotonic())
        assert mark_of(content, text) is None

    def test_of_a_broken_file_are_refused(self) -> None:
        with pytest.raises(Unreadable, match="It cannot be drawn"):
            find_marks(b"%PDF-1.7 nothing", pages={1: "x"}, places=[(1, 0, 1)])


class TestPictures:
    @pytest.mark.parametrize("box", [(0, 0, 14_400, 14_400), (0, 0, 14_400, 1), (0, 0, 0.01, 0.01)])
    def test_are_bounded_whatever_the_size_of_the_page(self, box: tuple[float, ...]) -> None:
        writer, stream = PdfWriter(), io.BytesIO()
        writer.append(PdfReader(io.BytesIO(pdf_of([OPENING]))))
        writer.pages[0].mediabox = RectangleObject(box)
        writer.write(stream)
        image = Image.open(io.BytesIO(draw_page(stream.getvalue(), name="x.pdf", page=1)))
        assert image.format == "WEBP"
        assert image.width * image.height <= drawing.MOST_PIXELS * 1.01
        assert max(image.size) <= drawing.MOST_SIDE + 1

    @pytest.mark.parametrize(("content", "page"), [(b"%PDF-1.7 nothing", 1), (pdf_of([OPENING]), 2)])
    def test_of_what_cannot_be_drawn_are_refused(self, content: bytes, page: int) -> None:
        with pytest.raises(Unreadable, match=f"Page {page} of 'x.pdf' cannot be drawn"):
            draw_page(content, name="x.pdf", page=page)
