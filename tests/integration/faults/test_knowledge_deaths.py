"""A server killed while it synchronises a source and indexes its documents: nothing is lost or embedded twice."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.installation import SCALE, Installation, Server
from tests.support.embedding_server import EmbeddingServer
from tests.support.patience import PATIENCE_SECONDS

FILES = 24 * SCALE
PARAGRAPHS = 5
DEATHS = (0.4,) if SCALE == 1 else (0.1, 0.4, 0.7)
"""Shares of the documents that have a vector when the server is killed."""
API = "/api/v1/knowledge-bases"
EMBEDDED = "SELECT p.context, p.text FROM knowledge_vectors v JOIN knowledge_passages p ON p.id = v.passage_id"
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


def paragraph(file: int, number: int) -> str:
    return f"Rule {number} of file {file} concerns matter {file * 1_000 + number}. " + "It applies each day. " * 20


async def send(server: Server, method: str, path: str, body: Any = None) -> Any:
    async with httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client:
        answer = await client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


async def rows(database: Database, query: str) -> list[Any]:
    async with database.reading() as session:
        return list((await session.execute(text(query))).all())


async def until_embedded(database: Database, documents: float) -> None:
    """Wait until so many documents have a vector."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        query = "SELECT count(DISTINCT document_id) FROM knowledge_vectors"
        while (await rows(database, query))[0][0] < documents:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)


async def test_a_killed_synchronisation_continues_and_embeds_nothing_twice(
    installation: Installation, settings: Settings, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    folder = tmp_path / "opened"
    folder.mkdir()
    for file in range(FILES):
        content = "\n\n".join(f"# Part {number}\n\n{paragraph(file, number)}" for number in range(PARAGRAPHS))
        (folder / f"file-{file}.md").write_text(content)
    installation.environment = {
        **installation.environment,
        "OPENAI_API_KEY": "sk-test-0123456789",
        "OPENAI_BASE_URL": embeddings.base_url,
        "HEADGATE_CONNECTIONS__FOLDERS": json.dumps({"files": {"path": str(folder)}}),
    }
    database = Database(settings)
    server = await installation.up()
    base = await send(server, "POST", API, {"name": "Rules", "embedding_model": "openai/small"})
    connection = {"name": "archive", "kind": "local_folder", "fields": {"folder": "files"}, "secrets": {}}
    await send(server, "POST", "/api/v1/connections", connection)
    embeddings.embeddings.texts.clear()
    config = {"kind": "storage", "connection": "archive", "pattern": "**/*.md"}
    source = await send(server, "POST", f"{API}/{base['id']}/sources", {"name": "Files", "config": config})
    address = f"{API}/{base['id']}/sources/{source['id']}"
    committed: set[str] = set()
    for share in DEATHS:
        await until_embedded(database, FILES * share)
        installation.kill(server)
        before = {f"{context}\n\n{body}".strip() for context, body in await rows(database, EMBEDDED)}
        assert committed <= before, "what was committed stays"
        committed = before
        assert committed <= {*embeddings.embeddings.texts}, "the server was sent what was committed"
        embeddings.embeddings.texts.clear()
        server = await installation.up()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            source, whole = await send(server, "GET", address), await send(server, "GET", f"{API}/{base['id']}")
            if source["status"] != "running" and not whole["waiting"] and source["documents"] == FILES:
                break
            await asyncio.sleep(0.1)
    assert (source["status"], source["problems"], source["report"]["deleted"]) == ("ready", 0, 0), source
    documents = await rows(database, "SELECT id, name, status, version, passages FROM knowledge_documents")
    assert {name for _, name, *_ in documents} == {f"Files/file-{file}.md" for file in range(FILES)}
    assert {(status, version) for _, _, status, version, _ in documents} == {("ready", 1)}, "nothing was added twice"
    passages = await rows(database, "SELECT document_id, ordinal FROM knowledge_passages")
    assert Counter(document for document, _ in passages) == {id_: count for id_, *_, count in documents}
    assert len(set(passages)) == len(passages) >= FILES * PARAGRAPHS / 2
    assert len(await rows(database, EMBEDDED)) == len(passages) == whole["passages_embedded"]
    again = [sent for sent in embeddings.embeddings.texts if sent in committed]
    assert embeddings.embeddings.texts
    assert again == [], "what was committed is not embedded again"
    assert max(Counter(embeddings.embeddings.texts).values()) == 1
    assert 0 < len(committed) < len(passages), "the last death was in the middle"
    await database.close()
