"""Protocol of the document process: one JSON text in, one JSON line and the document out."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

Format = Literal["pdf", "docx"]

MEDIA_TYPES: Mapping[str, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""Media type of each format; the format is also the file extension."""


@dataclass(frozen=True, slots=True)
class Job:
    """One document to generate."""

    markdown: str
    format: Format
    title: str = ""
    """Title above the text and in the document's properties."""
    name: str = ""
    """Title in the properties when there is neither a title nor a heading."""
    language: str = "und"
    """ISO 639 code, for screen readers; `und` for unknown."""
    page_size: Literal["a4", "us-letter"] = "a4"
    images: Mapping[str, bytes] = field(default_factory=dict)
    """Images that the text may refer to: name or id to content."""
    drawings: Mapping[str, str] = field(default_factory=dict)
    """SVG drawn by Headgate itself, never user content: name to content. Only a PDF includes it."""

    def to_json(self) -> bytes:
        """Return the job in the form that the process reads."""
        members = {
            name: getattr(self, name) for name in ("markdown", "format", "title", "name", "language", "page_size")
        }
        images = {name: base64.b64encode(content).decode() for name, content in self.images.items()}
        return json.dumps(members | {"images": images, "drawings": dict(self.drawings)}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Parse the output of `to_json`."""
        members = json.loads(text)
        images = {name: base64.b64decode(content) for name, content in members.pop("images").items()}
        return cls(**members, images=images)


@dataclass(frozen=True, slots=True)
class Made:
    """A generated document."""

    content: bytes
    media_type: str
    notes: tuple[str, ...] = ()
    """Omitted or replaced content, one sentence each."""
