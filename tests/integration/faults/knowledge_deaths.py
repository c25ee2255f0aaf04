"""A server that is killed while it reads and indexes documents of a source or a flow, and what must hold afterwards."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import text

from headgate.foundation.database import Database
from tests.integration.faults.installation import Installation, Server, one_step_flow
from tests.support.embedding_server import EmbeddingServer
from tests.support.patience import PATIENCE_SECONDS

API = "/api/v1/knowledge-bases"
EMBEDDED = "SELECT p.context, p.text FROM knowledge_vectors v JOIN knowledge_passages p ON p.id = v.passage_id"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What it took, with deaths."""

    seconds: float
    """Without the time in which no server ran or started."""
    restarts: float
    """Seconds until servers answered again, in all."""
    passages: int


@dataclass(frozen=True, slots=True)
class Killing:
    """A folder of files, and when the server dies that reads them.

    Args:
        files: Number of files.
        paragraphs: Paragraphs of each file.
        deaths: Shares of the documents that have a vector when the server is killed.
        patience: Seconds within which each share is reached.
    """

    installation: Installation
    database: Database
    embeddings: EmbeddingServer
    files: int
    paragraphs: int
    deaths: Sequence[float]
    patience: float = PATIENCE_SECONDS

    async def run(self, folder: Path) -> Outcome:
        """Synchronise `folder`, which is made, over the deaths; assert that nothing is lost or embedded twice."""
        self._write(folder)
        self.installation.environment = {
            **self.installation.environment,
            "OPENAI_API_KEY": "sk-test-0123456789",
            "OPENAI_BASE_URL": self.embeddings.base_url,
            "HEADGATE_CONNECTIONS__FOLDERS": json.dumps({"files": {"path": str(folder)}}),
        }
        server = await self.installation.up()
        base = await send(server, "POST", API, {"name": "Rules", "embedding_model": "openai/small"})
        address, sent = f"{API}/{base['id']}", self.embeddings.embeddings.texts
        sent.clear()
        began, restarts = time.perf_counter(), 0.0
        reading = await self._begin(server, address)
        committed, everything = set[str](), set[str]()
        for share in self.deaths:
            await self._until(self.files * share)
            self.installation.kill(server)
            died = time.perf_counter()
            before = {f"{context}\n\n{body}".strip() for context, body in await rows(self.database, EMBEDDED)}
            assert committed <= before, "what was committed stays"
            require_new(sent, committed)
            committed = before
            everything |= {*sent}
            assert committed <= everything, "the server was sent what was committed"
            sent.clear()
            server = await self.installation.up()
            restarts += time.perf_counter() - died
        await self._end(server, address, reading)
        seconds = time.perf_counter() - began - restarts
        passages = await self._require_whole(await send(server, "GET", address))
        assert sent
        require_new(sent, committed)
        assert 0 < len(committed) < passages, "the last death was in the middle"
        return Outcome(seconds, restarts, passages)

    async def _begin(self, server: Server, address: str) -> str:
        """Have the server read all files into the base at `address`; the id of the source."""
        connection = {"name": "archive", "kind": "local_folder", "fields": {"folder": "files"}, "secrets": {}}
        await send(server, "POST", "/api/v1/connections", connection)
        config = {"kind": "storage", "connection": "archive", "pattern": "**/*.md"}
        source = await send(server, "POST", f"{address}/sources", {"name": "Files", "config": config})
        return str(source["id"])

    async def _end(self, server: Server, address: str, reading: str) -> None:
        """Wait until the server has read and indexed all files; assert what it reports."""
        async with asyncio.timeout(self.patience):
            while True:
                source, base = (
                    await send(server, "GET", f"{address}/sources/{reading}"),
                    await send(server, "GET", address),
                )
                if source["status"] != "running" and not base["waiting"] and source["documents"] == self.files:
                    break
                await asyncio.sleep(0.1 if self.files < 1_000 else 1)
        assert (source["status"], source["problems"], source["report"]["deleted"]) == ("ready", 0, 0), source

    def _write(self, folder: Path) -> None:
        folder.mkdir()
        for file in range(self.files):
            (folder / f"file-{file}.md").write_text(self._text(file))

    def _text(self, file: int) -> str:
        return "\n\n".join(f"# Part {number}\n\n{paragraph(file, number)}" for number in range(self.paragraphs))

    async def _until(self, documents: float) -> None:
        """Wait until so many documents have a vector."""
        async with asyncio.timeout(self.patience):
            query = "SELECT count(DISTINCT document_id) FROM knowledge_vectors"
            while (await rows(self.database, query))[0][0] < documents:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02 if self.files < 1_000 else 1)

    async def _require_whole(self, base: Any) -> int:
        """Assert that every file is a document with all of its passages and vectors, once. Returns the passages."""
        documents = await rows(self.database, "SELECT id, name, status, version, passages FROM knowledge_documents")
        assert {name for _, name, *_ in documents} == {f"Files/file-{file}.md" for file in range(self.files)}
        assert {(status, version) for _, _, status, version, _ in documents} == {("ready", 1)}, "nothing twice"
        passages = await rows(self.database, "SELECT document_id, ordinal FROM knowledge_passages")
        assert Counter(document for document, _ in passages) == {id_: count for id_, *_, count in documents}
        assert len(set(passages)) == len(passages) >= self.files * self.paragraphs / 2
        assert len(await rows(self.database, EMBEDDED)) == len(passages) == base["passages_embedded"]
        return len(passages)


class FlowKilling(Killing):
    """A run whose step `IndexDocuments` adds all files. The first death is while it adds them."""

    async def _begin(self, server: Server, address: str) -> str:
        flow = one_step_flow("IndexDocuments", base="Rules")
        flow["nodes"][1:1] = [{"id": "parts", "type": "ParseJSON"}]
        flow["nodes"].append({"id": "out", "type": "ChatOutput"})
        flow["edges"] = [
            {"source": "heard", "output": "text", "target": "parts", "input": "text"},
            {"source": "parts", "output": "data", "target": "it", "input": "documents"},
            {"source": "it", "output": "report", "target": "out", "input": "input"},
        ]
        flow_id = await self.installation.make_flow(server, flow)
        items = [{"name": f"Files/file-{file}.md", "text": self._text(file)} for file in range(self.files)]
        body = {"version": "draft", "text": json.dumps(items)}
        run = await send(server, "POST", f"/api/v1/flows/{flow_id}/runs", body)
        return str(run["id"])

    async def _until(self, documents: float) -> None:
        if self.installation.deaths:
            await super()._until(documents)
            return
        async with asyncio.timeout(self.patience):
            query = "SELECT count(*) FROM knowledge_documents"
            while (await rows(self.database, query))[0][0] < documents:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)

    async def _end(self, server: Server, address: str, reading: str) -> None:
        async with asyncio.timeout(self.patience):
            while True:
                run = await send(server, "GET", f"/api/v1/flow-runs/{reading}")
                if run["status"] not in {"queued", "running"}:
                    break
                await asyncio.sleep(0.1)
        assert run["status"] == "completed", run
        report = json.loads(run["text"])
        assert report["added"] + report["unchanged"] == self.files, "it waited for every document"
        assert (report["changed"], report["failed"], report["waiting"], report["problems"]) == (0, 0, 0, []), report


def require_new(sent: Sequence[str], committed: set[str]) -> None:
    """Assert that a server sent each text once, and none whose vector was committed before it started."""
    again = [text for text in sent if text in committed]
    assert again == [], "what was committed is not embedded again"
    assert max(Counter(sent).values(), default=1) == 1


def paragraph(file: int, number: int) -> str:
    """A text that no other file has."""
    return f"Rule {number} of file {file} concerns matter {file * 1_000 + number}. " + "It applies each day. " * 20


async def send(server: Server, method: str, path: str, body: Any = None) -> Any:
    """Ask a server. The body of its answer."""
    async with httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client:
        answer = await client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


async def rows(database: Database, query: str) -> list[Any]:
    """The rows of a query."""
    async with database.reading() as session:
        return list((await session.execute(text(query))).all())
