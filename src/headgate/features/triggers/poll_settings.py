"""Settings of triggers that poll: what each kind looks at, how often, and what it starts at first."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.graph.json_values import PlainText

Expression = Annotated[PlainText, Field(max_length=500)]
ConnectionName = Annotated[PlainText, Field(min_length=1, max_length=64)]
Address = Annotated[PlainText, Field(min_length=1, max_length=8_000)]


class Poll(BaseModel):
    """What all kinds that poll share."""

    model_config = ConfigDict(extra="forbid")

    every_seconds: int = Field(default=300, ge=10, le=7 * 86_400, description="From the end of a poll to the next.")
    most: int = Field(default=50, ge=1, le=100, description="Most runs of one poll; the rest follow in the next ones.")
    first: Literal["now", "all"] = Field(
        default="now", description="Whether the first poll starts runs: only for what is new after it, or for all."
    )
    pause_after_errors: int | None = Field(
        default=10, ge=1, le=1_000, description="Pause after this many failed polls in a row; null: never."
    )
    text_from: Expression | None = Field(default=None, description="JMESPath of the run's text; all of the item.")
    form_from: dict[PlainText, Expression] = Field(
        default_factory=dict, max_length=100, description="JMESPath by form field of the flow."
    )


class FeedConfig(Poll):
    """New entries of a feed: RSS, Atom or JSON Feed."""

    kind: Literal["feed"] = "feed"
    url: Address


class PageConfig(Poll):
    """A changed web page, or a changed part of it."""

    kind: Literal["page"] = "page"
    url: Address
    selector: PlainText = Field(default="", max_length=500, description="CSS selector of the part; empty: the text.")


class FolderConfig(Poll):
    """New and changed files in the workspace of the owner, or in a storage."""

    kind: Literal["folder"] = "folder"
    connection: ConnectionName | None = Field(
        default=None,
        description="S3, Google Cloud, Azure, SFTP, WebDAV or folder of the server; else the workspace.",
    )
    folder: PlainText = Field(default="", max_length=1_024, description="Such as invoices/2027; empty: all of it.")
    pattern: PlainText = Field(default="*", min_length=1, max_length=500, description="**/*.pdf: also below it.")
    watch: bool = Field(
        default=True,
        description="Poll at once when the server reports a change, where it has the folder itself: workspace and"
        " folder of the server (extra `watch`).",
    )


class RowsConfig(Poll):
    """New rows of a query on a database."""

    kind: Literal["rows"] = "rows"
    connection: ConnectionName
    sql: PlainText = Field(min_length=1, max_length=100_000, description="One SELECT, without ORDER BY and LIMIT.")
    cursor_column: PlainText = Field(
        min_length=1, max_length=200, description="A column of the query whose values only rise, such as id."
    )
    key_column: PlainText | None = Field(
        default=None, max_length=200, description="The column that names a row; by default the cursor column."
    )
    look_back: int = Field(
        default=200,
        ge=0,
        le=1_000,
        description="Rows that each poll reads again before the last one: a transaction that ends late may add rows"
        " among them. A row that appears further back starts nothing.",
    )


class MailConfig(Poll):
    """New unread mail in a mailbox."""

    kind: Literal["mail"] = "mail"
    connection: ConnectionName
    folder: PlainText = Field(default="INBOX", min_length=1, max_length=500)
    sender: PlainText = Field(default="", max_length=500, description="Only mail whose sender contains this text.")
    subject: PlainText = Field(default="", max_length=500, description="Only mail whose subject contains this text.")
    mark_seen: bool = Field(default=True, description="Mark a mail as read once its run is stored.")
    idle: bool = Field(
        default=True,
        description="Keep a connection open between polls (IMAP IDLE), so that new mail is polled at once.",
    )


class ApiConfig(Poll):
    """New items in the answer of an API."""

    kind: Literal["api"] = "api"
    url: Address = Field(description="https://..., or with a connection a path such as /orders.")
    connection: ConnectionName | None = None
    items: Expression = Field(default="", description="JMESPath of the list of items; empty: the answer is the list.")
    key: Expression = Field(default="", description="JMESPath of an item's key, such as id; empty: all of the item.")


class StreamConfig(Poll):
    """New entries of a Redis stream."""

    kind: Literal["stream"] = "stream"
    connection: ConnectionName
    stream: PlainText = Field(min_length=1, max_length=500, description="The key of the stream.")
    key_field: PlainText = Field(
        default="", max_length=200, description="The field that names a message; by default the id of the entry."
    )


class QueueConfig(Poll):
    """Messages of an AMQP queue, which are removed once their runs are stored."""

    kind: Literal["queue"] = "queue"
    connection: ConnectionName
    queue: PlainText = Field(min_length=1, max_length=255)
    key_field: PlainText = Field(
        default="",
        max_length=200,
        description="What names a message, such as body.order or headers.id; by default its message id.",
    )
    first: Literal["all"] = Field(default="all", description="What waits in a queue is never skipped.")


class TopicConfig(Poll):
    """Messages of a Kafka topic, from offsets that are stored with the runs."""

    kind: Literal["topic"] = "topic"
    connection: ConnectionName
    topic: PlainText = Field(min_length=1, max_length=249)
    key_field: PlainText = Field(
        default="",
        max_length=200,
        description="What names a message, such as body.order or key; by default its partition, offset and time.",
    )
    missing: Literal["earliest", "latest"] = Field(
        default="earliest", description="Where to continue when Kafka deleted messages before they were read."
    )
    group: PlainText = Field(
        default="",
        max_length=200,
        description="Consumer group that offsets are committed for, so that others see them; they decide nothing.",
    )


PollConfig = (
    FeedConfig
    | PageConfig
    | FolderConfig
    | RowsConfig
    | MailConfig
    | ApiConfig
    | StreamConfig
    | QueueConfig
    | TopicConfig
)
POLLING = frozenset({"feed", "page", "folder", "rows", "mail", "api", "stream", "queue", "topic"})
"""Kinds of triggers that poll."""
