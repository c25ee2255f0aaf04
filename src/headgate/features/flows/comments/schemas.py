"""API schemas of comments."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from headgate.graph.json_values import plain_text
from headgate.graph.model import NodeId

CommentText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000), AfterValidator(plain_text)
]
Mentions = Annotated[
    list[Annotated[str, StringConstraints(max_length=64)]],
    Field(max_length=20, description="Ids of members of the space."),
]


class CommentIn(BaseModel):
    """A new comment."""

    model_config = ConfigDict(extra="forbid")

    text: CommentText
    node_id: NodeId | None = Field(default=None, description="The node that it is on; null: the flow as a whole.")
    mentions: Mentions = []


class CommentPatch(BaseModel):
    """A changed comment. Only the author changes text and mentions."""

    model_config = ConfigDict(extra="forbid")

    text: CommentText | None = None
    mentions: Mentions | None = None
    resolved: bool | None = None


class Person(BaseModel):
    """A user of the organisation."""

    user_id: str
    name: str


class CommentOut(BaseModel):
    """A comment."""

    id: str
    node_id: str | None
    author: Person | None
    """Null where the user was deleted."""
    text: str
    mentions: list[Person]
    created_at: datetime
    edited_at: datetime | None
    resolved_at: datetime | None


class CommentList(BaseModel):
    """The comments on a flow, oldest first."""

    items: list[CommentOut]
