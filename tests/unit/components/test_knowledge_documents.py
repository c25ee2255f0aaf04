"""The components that add documents to a knowledge base and embed texts."""

from typing import Any

import pytest

from headgate.components.embedding import Embed
from headgate.components.knowledge import Retrieve
from headgate.components.knowledge_documents import MOST_DOCUMENTS, IndexDocuments
from headgate.sdk import ComponentError
from headgate.sdk.fake_knowledge import FakeKnowledge
from headgate.sdk.testing import StepHarness


def harness(*notes: str) -> tuple[StepHarness, FakeKnowledge]:
    made, knowledge = StepHarness(), FakeKnowledge(notes=notes)
    made.ctx.knowledge = knowledge
    return made, knowledge


class TestIndexDocuments:
    async def test_adds_texts_objects_and_files_with_their_metadata(self) -> None:
        made, knowledge = harness("A picture was not read.")
        file = await made.ctx.files.save("plan.pdf", b"%PDF", "application/pdf")
        items: list[Any] = [
            {"name": "a", "text": "One", "metadata": {"year": 2026}}, file.model_dump(), {"name": "b", "value": 1},
        ]  # fmt: skip
        outputs = await made.run(
            IndexDocuments, {"documents": items, "base": "B", "metadata": {"team": "hr"}, "readers": "nobody"}
        )
        assert [(added.name, added.media_type, added.role) for added in knowledge.documents] == [
            ("a", "text/markdown", None), ("plan.pdf", "application/pdf", None), ("b", "text/markdown", None),
        ]  # fmt: skip
        assert [added.content for added in knowledge.documents][:2] == [b"One", b"%PDF"]
        assert knowledge.documents[0].metadata == {"team": "hr", "year": 2026}
        assert (outputs["report"]["added"], outputs["report"]["passages"]) == (3, 3)
        assert outputs["report"]["problems"][0] == {"document": "a", "problem": "A picture was not read."}
        assert outputs["table"].rows[0] == ["a", "added", "ready", 1, "A picture was not read."]

    async def test_names_documents_by_a_template(self) -> None:
        made, knowledge = harness()
        values = {"documents": ["x", "y"], "base": "B", "name": "notes/{index}"}
        await made.run(IndexDocuments, values)
        again = await made.run(IndexDocuments, values)
        assert [added.name for added in knowledge.documents] == ["notes/0", "notes/1"] * 2
        assert (again["report"]["unchanged"], again["report"]["added"]) == (2, 0)

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ({"documents": "text"}, "document 1 has no name"),
            ({"documents": ["a", "b"], "name": "same"}, "the name 'same' of an earlier one"),
            ({"documents": [""] * (MOST_DOCUMENTS + 1), "name": "{index}"}, "the limit is 1000"),
            ({"documents": "a", "name": "n", "metadata": [1]}, "not an object"),
        ],
    )
    async def test_refuses_what_it_cannot_index(self, values: dict[str, Any], reason: str) -> None:
        made, _ = harness()
        with pytest.raises(ComponentError, match=reason):
            await made.run(IndexDocuments, {"base": "B", **values})


class TestRetrieve:
    async def test_searches_documents_with_some_metadata(self) -> None:
        made, knowledge = harness()
        filters = [{"key": "team", "equals": "hr"}]
        await made.run(Retrieve, {"base": "B", "query": "x", "filters": filters})
        assert knowledge.queries[0].filters == filters


class TestEmbed:
    async def test_returns_a_vector_for_each_text_in_batches(self) -> None:
        made, _ = harness()
        items = [{"text": "a red car"}, *["x"] * 40]
        outputs = await made.run(Embed, {"items": items, "model": "openai/text-embedding-3-small"})
        assert outputs["vectors"][:2] == [[9.0, 3.0], [1.0, 1.0]]
        assert outputs["table"].rows[0] == ["a red car", [9.0, 3.0]]
        assert len(made.ctx.models) == 2, "41 texts are two requests"

    @pytest.mark.parametrize(("items", "reason"), [(["a", {"text": " "}], "item 2 has no text"), ([1] * 2001, "2000")])
    async def test_refuses_what_it_cannot_embed(self, items: list[Any], reason: str) -> None:
        made, _ = harness()
        with pytest.raises(ComponentError, match=reason):
            await made.run(Embed, {"items": items, "model": "openai/m"})
