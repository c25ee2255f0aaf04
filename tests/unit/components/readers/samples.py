"""Small documents made on the spot."""

import io

from docx import Document as WordDocument
from pypdf import PdfReader, PdfWriter


def pdf(*pages: str, password: str = "", title: str = "") -> bytes:
    """A PDF of one line of Helvetica a page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R /Resources << /Font << "
            "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    xref = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    body += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n".encode()
    if not password and not title:
        return body
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="AES-256")
    stream_out = io.BytesIO()
    writer.write(stream_out)
    return stream_out.getvalue()


def docx() -> bytes:
    """A Word document with headings, a list, and a table between paragraphs."""
    document = WordDocument()
    document.add_heading("Rapport", level=0)
    document.add_heading("Läget", level=2)
    document.add_paragraph("Allt är bra.")
    document.add_paragraph("ett", style="List Bullet")
    document.add_paragraph("två", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in enumerate([["vad", "antal"], ["a|b", "3"]]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_paragraph("Slut.")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()
