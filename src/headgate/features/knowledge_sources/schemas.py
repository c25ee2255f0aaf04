"""API schemas of sources of knowledge bases."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.knowledge.documents.schemas import Readers
from headgate.features.knowledge.metadata.values import Metadata
from headgate.foundation import names
from headgate.graph.json_values import PlainText

SourceName = Annotated[names.Name, Field(max_length=60, description="Begins the names of its documents.")]
ConnectionName = Annotated[PlainText, Field(min_length=1, max_length=64)]
Every = Annotated[
    int | None,
    Field(ge=60, le=30 * 86_400, description="Seconds from the end of a synchronisation to the next; null: by hand."),
]
MOST_DOCUMENTS = 10_000
MOST_SOURCES = 100
"""Sources of one base."""
MOST_SHOWN = 200
"""Notes of a report."""


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StorageSource(_Config):
    """Files of a storage: S3, Google Cloud, Azure, SFTP, WebDAV or a folder of the server."""

    kind: Literal["storage"] = "storage"
    connection: ConnectionName
    folder: PlainText = Field(default="", max_length=1_024, description="Empty: the complete storage.")
    pattern: PlainText = Field(default="**/*", min_length=1, max_length=500, description="Such as **/*.pdf.")


class GitSource(_Config):
    """Files of a Git repository."""

    kind: Literal["git"] = "git"
    connection: ConnectionName
    repository: PlainText = Field(
        default="", max_length=300, description="Such as owner/name; empty: that of the connection."
    )
    ref: PlainText = Field(default="", max_length=200, description="Branch, tag or commit; empty: the default branch.")
    pattern: PlainText = Field(default="**/*", min_length=1, max_length=500, description="Such as docs/**/*.md.")


class WebSource(_Config):
    """A web page, the pages of a sitemap, or the pages that a page links to."""

    kind: Literal["web"] = "web"
    url: PlainText = Field(min_length=1, max_length=2_000, description="https://...")
    follow: Literal["page", "sitemap", "links"] = Field(
        default="page",
        description="page: this page; sitemap: the pages of the sitemap at this address; links: also linked pages.",
    )
    depth: int = Field(default=2, ge=1, le=5, description="Links to follow from the first page.")
    most_pages: int = Field(default=200, ge=1, le=2_000, description="More pages are omitted, and reported.")
    hosts: list[PlainText] = Field(
        default_factory=list,
        max_length=20,
        description="Other hosts that it may reach, such as docs.example.org; by default that of the address only.",
    )


class SqlSource(_Config):
    """Rows of a query: each one is a document."""

    kind: Literal["sql"] = "sql"
    connection: ConnectionName
    sql: PlainText = Field(min_length=1, max_length=100_000, description="One SELECT.")
    key_column: PlainText = Field(min_length=1, max_length=200, description="The column that names a row.")


class MailSource(_Config):
    """Messages of a mailbox: each one is a document."""

    kind: Literal["mail"] = "mail"
    connection: ConnectionName
    folder: PlainText = Field(default="INBOX", min_length=1, max_length=500)
    sender: PlainText = Field(default="", max_length=500, description="Only mail whose sender contains this text.")
    subject: PlainText = Field(default="", max_length=500, description="Only mail whose subject contains this text.")
    most_messages: int = Field(default=1_000, ge=1, le=5_000, description="The newest ones; older ones stay.")


AnySource = StorageSource | GitSource | WebSource | SqlSource | MailSource
Config = Annotated[AnySource, Field(discriminator="kind")]


class SourceIn(BaseModel):
    """A source to add. It is synchronised at once."""

    model_config = ConfigDict(extra="forbid")

    name: SourceName
    config: Config
    every_seconds: Every = None
    readers: Readers = Field(default_factory=Readers, description="Of its documents.")
    classification: int = Field(
        default=0, ge=0, le=4, description="Of its documents; a connection with a higher one raises it."
    )
    metadata: Metadata = Field(default_factory=dict, description="Of its documents.")


class SourceChange(BaseModel):
    """The members to change; omitted ones stay. Readers, classification and metadata apply to its documents at once."""

    model_config = ConfigDict(extra="forbid")

    config: Config | None = None
    every_seconds: Every = None
    readers: Readers | None = None
    classification: int | None = Field(default=None, ge=0, le=4)
    metadata: Metadata | None = None


class SyncReport(BaseModel):
    """What a synchronisation did."""

    listed: int = 0
    """Items that the source has."""
    done: int = 0
    """Items that were compared, and read where they changed."""
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    """Items that could not be read; `items` lists them with reasons."""
    complete: bool = True
    """Whether everything in the source was listed; otherwise nothing was deleted."""
    notes: list[str] = Field(default_factory=list)
    """What was omitted."""


class SourceOut(BaseModel):
    """A source and the state of its synchronisation."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    base_id: str
    name: str
    owner_user_id: str
    config: Config
    every_seconds: int | None
    readers: Readers
    classification: int
    metadata: Metadata
    status: Literal["pending", "running", "ready", "failed"]
    problem: str
    """Why the last synchronisation failed."""
    report: SyncReport
    documents: int
    """Documents that it has now."""
    problems: int
    """Items that could not be read, and documents that were not understood completely."""
    next_at: datetime | None
    """When it is synchronised next; null: on request."""
    synced_at: datetime | None
    created_at: datetime
    updated_at: datetime


class SourceItemOut(BaseModel):
    """Something of a source that was not understood completely."""

    key: str
    document_id: str | None
    """Null: it has no document."""
    document: str
    reasons: list[str]
