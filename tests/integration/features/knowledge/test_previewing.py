"""How a document would be divided, without storing anything."""

from typing import Any

from fastapi import FastAPI
from sqlalchemy import text

from tests.integration.features.knowledge.conftest import API, HANDBOOK, Knowledge

LONG = "# Travel\n\n" + " ".join(f"Sentence {number} about trains." for number in range(200))


async def preview(knowledge: Knowledge, base: str, content: str | bytes | None = None, **params: Any) -> dict[str, Any]:
    files = None if content is None else {"file": ("travel.md", content)}
    answer = await knowledge.client.post(f"{API}/{base}/preview", params=params, files=files)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


class TestPreview:
    async def test_divides_a_file_as_indexing_does_and_stores_nothing(self, knowledge: Knowledge, app: FastAPI) -> None:
        base = await knowledge.base()
        large = await preview(knowledge, base, LONG)
        small = await preview(knowledge, base, LONG, passage_tokens=100, overlap_tokens=0)
        assert (large["passage_tokens"], large["overlap_tokens"]) == (400, 40)
        assert small["passages"] > large["passages"] > 1
        assert small["largest"] <= 100
        assert "".join(part["text"] for part in small["shown"]) == LONG
        assert small["tokens"] == sum(part["tokens"] for part in small["shown"])
        assert small["shown"][1]["context"] == "Travel"
        async with app.state.database.reading() as session:
            for table in ("files", "knowledge_documents", "knowledge_passages"):
                assert (await session.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one() == 0, table
        document = await knowledge.add(base, "travel.md", LONG)
        assert document["passages"] == large["passages"]
        stored = await knowledge.passages(base, document["id"])
        assert [part["text"] for part in stored] == [part["text"] for part in large["shown"]]

    async def test_divides_a_document_of_the_base_with_other_sizes(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "handbook.md", HANDBOOK)
        shown = await preview(knowledge, base, document_id=document["id"], passage_tokens=50)
        assert shown["passages"] >= document["passages"]
        other = await knowledge.base("Other")
        refused = await knowledge.client.post(f"{API}/{other}/preview", params={"document_id": document["id"]})
        assert refused.status_code == 404

    async def test_says_what_it_cannot_read(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        broken = await knowledge.client.post(f"{API}/{base}/preview", files={"file": ("a.pdf", b"%PDF-1.7 broken")})
        assert (broken.status_code, "a.pdf" in broken.json()["detail"]) == (422, True), broken.text
        missing = await knowledge.client.post(f"{API}/{base}/preview")
        assert (missing.status_code, missing.json()["code"]) == (422, "bad_upload")
        large = await knowledge.client.post(
            f"{API}/{base}/preview", params={"passage_tokens": 9_999}, files={"file": ("a.md", b"x")}
        )
        assert large.status_code == 422
