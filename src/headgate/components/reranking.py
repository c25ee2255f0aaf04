"""The component that puts texts in the order in which they answer a query."""

from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.chat import ModelStep, input_text
from headgate.components.data.selecting import select
from headgate.components.items import ListItems, listed_items
from headgate.sdk import ComponentError, Data, Message, Model, Table, Text, field, output
from headgate.sdk.coerce import text_of

MOST_TEXTS = 1_000
_BATCH = 100
"""Texts of one request."""


@dataclass(frozen=True, slots=True)
class _Scored:
    index: int
    item: JsonValue
    text: str
    score: float


def member_field() -> Any:  # noqa: ANN401 - as `field`
    """Return the field of the member of an item that a model receives."""
    return field(
        default="",
        label="Text of an item",
        help="Member that is compared, such as summary. Empty: text of an object that has it, else the whole item.",
        port=False,
        interpolate=False,
        max_length=200,
        advanced=True,
    )


class Rerank(ListItems, ModelStep):
    """Puts texts in the order in which they answer a query, with a rerank model, and keeps the best.

    The model reads the query with each text: it orders better than a search, and costs one call for 100 texts.
    """

    label = "Rerank"
    category = "ai"
    icon = "arrow-down-wide-narrow"
    keywords = (
        "rerank", "reorder", "relevance", "cross-encoder", "cohere", "jina", "rag", "retrieval", "ranking", "sort",
        "best matches", "search results", "score", "filter",
    )  # fmt: skip

    query: str | Message = field(
        label="Query", help="What the texts are to answer.", tool_mode=True, schema={"type": "string"}
    )
    model: Model = field(
        label="Model", help="The rerank model, provider/name, for example cohere/rerank-v3.5, or local/NAME."
    )
    member: str = member_field()
    limit: int = field(default=10, label="Keep", help="Maximum number of items.", ge=1, le=MOST_TEXTS)
    _scored: list[_Scored] | None = PrivateAttr(default=None)

    @output(help="The items, the best first.")
    async def ranked(self) -> Data:
        """Return the items as they came."""
        return [scored.item for scored in await self._best()]

    @output(help="Their texts, separated by empty lines.")
    async def text(self) -> Text:
        """Return the texts joined."""
        return "\n\n".join(scored.text for scored in await self._best())

    @output(help="Score, place in the list before (from 0), and text of each. The scale is that of the model.")
    async def table(self) -> Table:
        """Return the scores."""
        rows: list[list[JsonValue]] = [[scored.score, scored.index, scored.text] for scored in await self._best()]
        return Table(columns=["score", "index", "text"], rows=rows)

    async def _best(self) -> list[_Scored]:
        """Return the best items; the model is called once per step."""
        if self._scored is None:
            query = input_text(self.query).strip()
            if not query:
                raise ComponentError("Rerank: 'query' is empty.", remedy="Connect a text or write one.", field="query")
            items = listed_items("Rerank", self.items)
            texts = {
                index: text
                for index, item in enumerate(items)
                if (text := item_text(item, self.member, "Rerank")).strip()
            }
            if len(texts) > MOST_TEXTS:
                raise ComponentError(
                    f"Rerank: there are {len(texts)} texts; the limit is {MOST_TEXTS}.",
                    remedy="Search or filter before it.",
                    field="items",
                )
            ids, scores = list(texts), list[float]()
            for first in range(0, len(ids), _BATCH):
                batch = [texts[index] for index in ids[first : first + _BATCH]]
                scores += await self.ctx.rerank(self.model, query, batch)
            if len(texts) < len(items):
                self.ctx.log(f"{len(items) - len(texts)} items without text are omitted.")
            scored = [
                _Scored(index, items[index], texts[index], score) for index, score in zip(ids, scores, strict=True)
            ]
            self._scored = sorted(scored, key=lambda one: -one.score)[: self.limit]
        return self._scored


def item_text(item: JsonValue, member: str, subject: str) -> str:
    """Return the text of an item: of its member, or its `text` if it has one. Raises `ComponentError`."""
    if member:
        item = select(member, item, subject=subject, location="member")
    elif isinstance(item, dict) and isinstance(item.get("text"), str):
        item = item["text"]
    return "" if item is None else text_of(item)
