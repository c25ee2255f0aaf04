"""The component that turns texts into vectors."""

from pydantic import JsonValue, PrivateAttr

from headgate.components.chat import ModelStep
from headgate.components.items import ListItems, listed_items
from headgate.components.reranking import item_text, member_field
from headgate.sdk import ComponentError, Data, Model, Table, field, output

MOST_TEXTS = 2_000
_BATCH = 32
"""Texts of one request."""


class Embed(ListItems, ModelStep):
    """Turns texts into vectors with an embedding model: near vectors have near meanings.

    The model of a knowledge base embeds its documents by itself; this is for comparing texts in a flow.
    """

    label = "Embed"
    category = "ai"
    icon = "waypoints"
    keywords = (
        "embed", "embedding", "embeddings", "vector", "vectors", "similarity", "semantic", "cosine", "cluster",
        "encode", "openai embeddings", "ollama embeddings",
    )  # fmt: skip

    model: Model = field(
        label="Model",
        help="Embedding model, provider/name, such as openai/text-embedding-3-small, or local/NAME.",
    )
    member: str = member_field()
    _vectors: list[tuple[str, list[float]]] | None = PrivateAttr(default=None)

    @output(help="The vectors, lists of numbers, in the order of the items.")
    async def vectors(self) -> Data:
        """Return the vectors."""
        return [list[JsonValue](vector) for _, vector in await self._embedded()]

    @output(help="One row per item: its text and vector.")
    async def table(self) -> Table:
        """Return the texts with their vectors."""
        rows: list[list[JsonValue]] = [[text, list[JsonValue](vector)] for text, vector in await self._embedded()]
        return Table(columns=["text", "vector"], rows=rows)

    async def _embedded(self) -> list[tuple[str, list[float]]]:
        """Return the texts with their vectors; each is embedded once per step."""
        if self._vectors is None:
            texts = [item_text(item, self.member, "Embed") for item in listed_items("Embed", self.items)]
            empty = next((index for index, text in enumerate(texts) if not text.strip()), None)
            if empty is not None:
                raise ComponentError(f"Embed: item {empty + 1} has no text.", remedy="Filter before it.", field="items")
            if len(texts) > MOST_TEXTS:
                raise ComponentError(
                    f"Embed: there are {len(texts)} texts; the limit is {MOST_TEXTS}.",
                    remedy="Embed them in parts, with ForEach.",
                    field="items",
                )
            vectors: list[tuple[float, ...]] = []
            for first in range(0, len(texts), _BATCH):
                vectors += await self.ctx.embed(self.model, texts[first : first + _BATCH])
            if len({len(vector) for vector in vectors}) > 1:
                raise ComponentError("Embed: the model answered with vectors of several sizes.", field="model")
            # As precise as the numbers of 32 bits that models compute with.
            rounded = [[float(f"{value:.7g}") for value in vector] for vector in vectors]
            self._vectors = list(zip(texts, rounded, strict=True))
        return self._vectors
