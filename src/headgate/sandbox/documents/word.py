"""Styles a Word document with python-docx: fonts, colours, margins, table rules, page numbers."""

import io
import re
import zipfile
from typing import Any

BODY_FONT, CODE_FONT = "Calibri", "Consolas"
INK, ACCENT, RULE, SHADE = "1C2430", "1F4E79", "C9D1DA", "EEF2F6"
_POINTS = {"Heading 1": 18, "Heading 2": 14, "Heading 3": 12, "Heading 4": 11, "Heading 5": 11, "Heading 6": 11}
_CENTIMETRE = 360_000
_AFTER_SHADE = re.findall(
    r"\w:\w+",
    """
    w:noWrap w:tcMar w:textDirection w:tcFitText w:vAlign w:hideMark w:tabs w:suppressAutoHyphens w:kinsoku w:wordWrap
    w:overflowPunct w:topLinePunct w:autoSpaceDE w:autoSpaceDN w:bidi w:adjustRightInd w:snapToGrid w:spacing w:ind
    w:contextualSpacing w:mirrorIndents w:jc w:outlineLvl w:rPr
    """,
)
"""Elements that the schema requires after the shading of a cell or a paragraph (ECMA-376, 17.4.70 and 17.3.1.26)."""
_PAPER = {"a4": (21.0, 29.7), "us-letter": (21.59, 27.94)}


def finish(docx: Any, content: bytes, *, title: str, language: str, page_size: str) -> bytes:  # noqa: ANN401 - module
    """Return pandoc's output with styles. `docx` is the python-docx module."""
    document = docx.Document(io.BytesIO(content))
    document.core_properties.title = title
    document.core_properties.language = language
    _style_text(docx, document)
    for section in document.sections:
        _lay_out(docx, section, page_size)
    for table in document.tables:
        _rule_table(docx, table)
    package = io.BytesIO()
    document.save(package)
    return _timeless(package)


def _timeless(package: io.BytesIO) -> bytes:
    """Return the package without timestamps: the same text produces the same bytes."""
    timeless = io.BytesIO()
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(timeless, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.infolist():
            target.writestr(zipfile.ZipInfo(part.filename), source.read(part), zipfile.ZIP_DEFLATED)
    return timeless.getvalue()


def _style_text(docx: Any, document: Any) -> None:  # noqa: ANN401
    colour, points = docx.shared.RGBColor.from_string, docx.shared.Pt
    for style in document.styles:
        name = style.name or ""
        if name == "Normal":
            _font(style, BODY_FONT)
            style.font.size = points(11)
            style.font.color.rgb = colour(INK)
        elif name in _POINTS or name in {"Title", "Subtitle"}:
            _font(style, BODY_FONT)
            style.font.size = points(_POINTS.get(name, 26))
            style.font.bold = True
            style.font.italic = name in {"Heading 5", "Heading 6"}
            style.font.color.rgb = colour(ACCENT)
            style.paragraph_format.space_before = points(0 if name == "Title" else 16)
            style.paragraph_format.space_after = points(14 if name == "Title" else 6)
            style.paragraph_format.keep_with_next = True
            style.paragraph_format.alignment = 0
        elif name == "Verbatim Char":
            _font(style, CODE_FONT)
            style.font.size = points(9.5)
        elif name == "Source Code":
            _font(style, CODE_FONT)
            _shade(docx, style.element.get_or_add_pPr(), "F5F7F9")


def _font(style: Any, name: str) -> None:  # noqa: ANN401
    """Set the font for Latin text; other scripts use the viewer's fonts."""
    style.font.name = name
    fonts = style.element.rPr.rFonts
    for attribute in list(fonts.attrib):
        if "Theme" in attribute:
            del fonts.attrib[attribute]


def _lay_out(docx: Any, section: Any, page_size: str) -> None:  # noqa: ANN401
    width, height = _PAPER[page_size]
    section.page_width, section.page_height = int(width * _CENTIMETRE), int(height * _CENTIMETRE)
    section.left_margin = section.right_margin = int(2.5 * _CENTIMETRE)
    section.top_margin = section.bottom_margin = int(2.4 * _CENTIMETRE)
    paragraph = section.footer.paragraphs[0]
    paragraph.alignment = 1
    for part in ("PAGE", " / ", "NUMPAGES"):
        run = paragraph.add_run(part if part == " / " else "")
        run.font.size = docx.shared.Pt(9)
        if part != " / ":
            _add_field(docx, run, part)


def _add_field(docx: Any, run: Any, code: str) -> None:  # noqa: ANN401
    """Add a field that the viewer evaluates (ECMA-376, 17.16)."""
    for kind, text in (("begin", ""), ("", code), ("separate", ""), ("t", "1"), ("end", "")):
        if kind == "t":
            element = docx.oxml.OxmlElement("w:t")
            element.text = text
        elif text:
            element = docx.oxml.OxmlElement("w:instrText")
            element.text = text
        else:
            element = docx.oxml.OxmlElement("w:fldChar")
            element.set(docx.oxml.ns.qn("w:fldCharType"), kind)
        run._r.append(element)  # noqa: SLF001 - python-docx has no fields of its own


def _rule_table(docx: Any, table: Any) -> None:  # noqa: ANN401
    """Add rules below each row and a shaded bold header that repeats on every page."""
    properties = table._tbl.tblPr  # noqa: SLF001 - nor borders
    borders = docx.oxml.OxmlElement("w:tblBorders")
    for edge, size, colour in (("top", 8, ACCENT), ("bottom", 4, RULE), ("insideH", 4, RULE)):
        line = docx.oxml.OxmlElement(f"w:{edge}")
        for name, value in (("val", "single"), ("sz", str(size)), ("space", "0"), ("color", colour)):
            line.set(docx.oxml.ns.qn(f"w:{name}"), value)
        borders.append(line)
    properties.insert_element_before(borders, "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook")
    for number, row in enumerate(table.rows):
        for cell in row.cells:
            for paragraph in cell.paragraphs:
                paragraph.paragraph_format.space_before = paragraph.paragraph_format.space_after = docx.shared.Pt(3)
                for run in paragraph.runs if number == 0 else ():
                    run.font.bold = True
            if number == 0:
                _shade(docx, cell._tc.get_or_add_tcPr(), SHADE)  # noqa: SLF001


def _shade(docx: Any, properties: Any, colour: str) -> None:  # noqa: ANN401
    shade = docx.oxml.OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", colour)):
        shade.set(docx.oxml.ns.qn(f"w:{name}"), value)
    properties.insert_element_before(shade, *_AFTER_SHADE)
