"""API schemas of documents, their passages, previews and verified citations."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from headgate.features.knowledge.metadata.values import Metadata
from headgate.features.knowledge.schemas import RetentionDays
from headgate.foundation import names
from headgate.graph.json_values import PlainText

LONGEST_NAME = 255
"""Of a document."""
DocumentName = Annotated[names.Name, Field(max_length=LONGEST_NAME)]
ReaderRole = Literal["visitor", "viewer", "runner", "editor", "publisher", "owner"]
Status = Literal["pending", "indexing", "ready", "failed"]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
MOST_READERS = 200
MOST_VERSION = 2**31 - 1
"""The database's largest integer."""
MOST_VERIFIED = 20
"""Files that one request to verify citations reads."""


class Readers(BaseModel):
    """Who may read the passages of a document, in addition to its owner."""

    model_config = ConfigDict(extra="forbid")

    role: ReaderRole | None = Field(
        default="viewer",
        description=(
            "Lowest role in the space that may read it; visitor: also runs without a user, such as those of a public"
            " page; null: only the listed users and groups."
        ),
    )
    users: list[str] = Field(default_factory=list, max_length=MOST_READERS, description="Ids of users.")
    groups: list[str] = Field(default_factory=list, max_length=MOST_READERS, description="Ids of directory groups.")


class DocumentIn(BaseModel):
    """A document to add. A document of the same name becomes its next version."""

    model_config = ConfigDict(extra="forbid")

    file_id: str = Field(description="Id of an uploaded file.")
    name: DocumentName | None = Field(default=None, description="Name of the document; empty: that of the file.")
    source: PlainText = Field(default="upload", max_length=500, description="Where it came from.")
    readers: Readers | None = Field(
        default=None,
        description=(
            "Empty: every member of the space; of a next version: those of the document, which apply to all its"
            " versions. A next version with others is refused."
        ),
    )
    classification: int | None = Field(
        default=None,
        ge=0,
        le=4,
        description=(
            "Sensitivity level of the content. Empty: 0; of a next version: that of the document. A next version with"
            " another is refused."
        ),
    )
    language: str = Field(default="", max_length=16, description="ISO 639-1 code; empty: detected.")
    metadata: Metadata | None = Field(
        default=None, description="Empty: none; of a next version: those of the document."
    )


class DocumentChange(BaseModel):
    """The members to change, for all versions of the document; omitted ones stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    readers: Readers | None = None
    classification: int | None = Field(default=None, ge=0, le=4)
    retention_days: RetentionDays | None = Field(default=None, description="Null: as the base says.")
    metadata: Metadata | None = Field(default=None, description="Replaces all values.")


class DocumentOut(BaseModel):
    """A document and the state of its index."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    base_id: str
    name: str
    source: str
    owner_user_id: str | None
    readers: Readers
    classification: int
    retention_days: int | None
    """Days after its last version that it is deleted; 0: never; null: as the base says."""
    parent_id: str | None
    """The document that it is an attachment of."""
    language: str
    version: int
    sha256: str
    size_bytes: int
    media_type: str
    file_id: str
    status: Status
    problem: str
    """Why it could not be read, or why the last attempt failed while it waits for the next one."""
    notes: list[str]
    """What was not understood."""
    metadata: Metadata
    characters: int
    pages: int | None
    passages: int
    passages_done: int
    passages_added: int
    """Passages that the last indexing added; the others were unchanged."""
    passages_embedded: int
    """Passages with an embedding of the base's model."""
    embedding_tokens: int
    """Tokens that were sent to embedding models, in all."""
    created_at: datetime
    updated_at: datetime


class BoxOut(BaseModel):
    """A rectangle on a page, from the upper left corner of the page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float


class MarksOut(BaseModel):
    """Where the text of a passage is on its page."""

    width: float
    """Of the page, in points; of a scan in pixels of the picture that was read. Boxes have the same unit."""
    height: float
    boxes: list[BoxOut]
    """One or more for each line."""


class PassageOut(BaseModel):
    """A passage of a document: characters `start` to `end` of its text."""

    model_config = ConfigDict(from_attributes=True)

    ordinal: int
    version: int
    start: int
    core: int
    """Where the part begins that the passage before it does not contain."""
    end: int
    page: int | None
    marks: MarksOut | None
    """Of a passage of a PDF or image; null where its place is unknown."""
    context: str
    """Headings above it, and the header row of its table."""
    text: str
    sha256: str
    tokens: int


class PreviewIn(BaseModel):
    """How a document is divided for a preview."""

    model_config = ConfigDict(extra="forbid")

    passage_tokens: int | None = Field(default=None, ge=50, le=2_000, description="Empty: as the base says.")
    overlap_tokens: int | None = Field(default=None, ge=0, le=500, description="Empty: as the base says.")
    document_id: str = Field(default="", max_length=36, description="A document of the base, when no file is sent.")


class PreviewPassage(BaseModel):
    """A passage as it would be stored."""

    start: int
    core: int
    """Where the part begins that the passage before it does not contain."""
    end: int
    page: int | None
    context: str
    text: str
    tokens: int


class PreviewOut(BaseModel):
    """How a document would be divided. Nothing is stored."""

    passage_tokens: int
    overlap_tokens: int
    characters: int
    pages: int | None
    passages: int
    tokens: int
    """Of all passages, with their overlap."""
    smallest: int
    """Tokens of the smallest passage."""
    largest: int
    notes: list[str]
    """What was not understood."""
    shown: list[PreviewPassage]
    """The first passages."""


class CitationIn(BaseModel):
    """A citation to verify."""

    model_config = ConfigDict(extra="ignore")

    document_id: str = Field(max_length=36)
    version: int = Field(ge=1, le=MOST_VERSION)
    document_sha256: Sha256
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sha256: Sha256

    @property
    def content(self) -> tuple[str, int]:
        """Return the document and the version whose file is read."""
        return self.document_id, self.version


class VerifyIn(BaseModel):
    """Citations to verify, of a limited number of documents: the file of each is read."""

    model_config = ConfigDict(extra="forbid")

    citations: list[CitationIn] = Field(
        max_length=500, description=f"Citations of at most {MOST_VERIFIED} versions of documents."
    )

    @field_validator("citations")
    @classmethod
    def _few_documents(cls, citations: list[CitationIn]) -> list[CitationIn]:
        if len({citation.content for citation in citations}) > MOST_VERIFIED:
            raise ValueError(f"the citations are of more than {MOST_VERIFIED} documents; verify them in several steps")
        return citations


class VerdictOut(BaseModel):
    """Whether the cited text is in the document with the cited checksum."""

    document_id: str
    document: str
    version: int
    start: int
    end: int
    verified: bool
    reason: str
    """Why it is not verified, or where the text is."""


class VerifyOut(BaseModel):
    """Verdicts, in the order of the citations."""

    verified: bool
    """Whether all are verified."""
    citations: list[VerdictOut]
