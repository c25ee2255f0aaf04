"""Knowledge: how good a search is on a public retrieval set, beside BM25 of a library and LangChain's default pipeline.

A set is a folder in the form of BEIR: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
`qrels/test.tsv` (query, document, relevance; above 0 is relevant). Each document becomes a document of a base. The
measures are nDCG@10 and recall@10 of documents, the mean of all queries with a relevant document.

Headgate is measured by words; by meaning and by both, with the local embedding model if it was pulled; and reranked,
with the local rerank model if it was pulled. Beside it: BM25 of `bm25s` with its English stop words, and LangChain with
the same embedding model, its recursive splitter (1,000 characters, 200 overlap) and its vector store in memory. What
needs a library or model that is missing is not measured.

    RETRIEVAL_SET=FOLDER python -m benchmarks.knowledge_quality [--smoke] [--json FILE]
"""

import asyncio
import json
import math
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.support.databases import make_settings, migrate
from tests.support.keys import GivenKeys
from tests.support.knowledge import BagEmbedder, Shelf, open_shelf
from tests.support.web import open_web

from benchmarks.measure import Options, Report, arguments
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.knowledge.search.schemas import Mode, SearchIn
from headgate.features.models import embeddings, reranking
from headgate.features.models.embeddings import Embedded
from headgate.features.models.local.models import LocalModels
from headgate.features.models.reranking import Reranked
from headgate.foundation.database import Database
from headgate.sdk.values import Model

MODEL, RANKER, TOP = "local/all-minilm-l6-v2", "local/bge-reranker-v2-m3", 10
Lane = Callable[[str], Awaitable[list[str]]]
"""Returns the documents that answer a query, the best first."""


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Documents, queries, and which documents answer them."""

    name: str
    corpus: dict[str, str]
    queries: dict[str, str]
    relevant: dict[str, set[str]]


SMALL = RetrievalSet(
    "three texts",
    {"a": "Leave is five weeks.", "b": "Cars are parked in the garage.", "c": "Trains are preferred."},
    {"1": "weeks of leave", "2": "garage"},
    {"1": {"a"}, "2": {"b"}},
)


def read_set(folder: Path) -> RetrievalSet:
    """Return the set in a folder."""
    corpus = {row["_id"]: f"{row.get('title', '')}\n\n{row['text']}".strip() for row in _rows(folder / "corpus.jsonl")}
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, document, relevance = line.split("\t")
        if int(relevance) > 0 and document in corpus:
            relevant.setdefault(query, set()).add(document)
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl") if row["_id"] in relevant}
    return RetrievalSet(folder.name, {key: text for key, text in corpus.items() if text}, queries, relevant)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


class LocalEmbedder(BagEmbedder):
    """Embeds and reranks with the models on this machine."""

    def __init__(self, local: LocalModels) -> None:
        super().__init__()
        self._local = local

    async def embed(self, _principal: Principal, model: str, texts: Sequence[str]) -> Embedded:
        """Embed texts."""
        return await embeddings.embed(
            Model.model_validate(model), texts, GivenKeys(), web=open_web(), local=self._local
        )

    async def rerank(self, _principal: Principal, model: str, query: str, texts: Sequence[str]) -> Reranked:
        """Rerank texts."""
        return await reranking.rerank(
            Model.model_validate(model), query, texts, GivenKeys(), web=open_web(), local=self._local
        )


async def main(options: Options) -> None:
    """Measure and print."""
    given = options.choose(read_set, read_set, lambda _: SMALL)(Path(os.environ.get("RETRIEVAL_SET", "")))
    local = LocalModels()
    report = Report(
        f"Retrieval: {given.name}, {len(given.corpus):,} documents, {len(given.queries):,} queries",
        ("lane", f"nDCG@{TOP}", f"recall@{TOP}"),
    )
    model = MODEL if MODEL in {f"local/{one.name}" for one in local.ready("embedding")} else ""
    ranker = RANKER if RANKER in {f"local/{one.name}" for one in local.ready("rerank")} else ""
    try:
        with tempfile.TemporaryDirectory() as made:
            shelf = await _filled(given, LocalEmbedder(local), Path(made), model, ranker)
            modes: tuple[Mode, ...] = ("lexical", "vector", "hybrid") if model else ("lexical",)
            for mode in modes:
                await _measure(f"Headgate, {mode}", _searching(shelf, mode), given, report)
            if ranker:
                await _measure("Headgate, reranked", _searching(shelf, modes[-1], rerank=True), given, report)
            await shelf.database.close()
        if find_spec("bm25s") is not None:
            await _measure("bm25s", _bm25(given), given, report)
        if model and find_spec("langchain_text_splitters") is not None:
            await _measure("LangChain, its defaults", await _langchain(given, LocalEmbedder(local)), given, report)
    finally:
        local.close()
    report.finish(options, picture="knowledge_quality.png")


async def _filled(given: RetrievalSet, embedder: LocalEmbedder, made: Path, model: str, ranker: str) -> Shelf:
    settings = make_settings(made)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    shelf = open_shelf(Database(settings), settings.data_dir, embedder)
    async with shelf.jobs.running():
        await shelf.make_base(embedding_model=model, rerank_model=ranker)
        for key, text in given.corpus.items():
            await shelf.add(f"{key}.txt", text)
        await shelf.indexer.settle()
    return shelf


def _searching(shelf: Shelf, mode: Mode, *, rerank: bool = False) -> Lane:
    async def ask(query: str) -> list[str]:
        search_in = SearchIn(query=query, limit=TOP * 3, max_tokens=100_000, mode=mode, rerank=rerank)
        answer = await shelf.searcher.search_as(LOCAL, shelf.base_id, search_in)
        return [hit.document.removesuffix(".txt") for hit in answer.hits]

    return ask


def _bm25(given: RetrievalSet) -> Lane:
    """Return BM25 with the defaults of the library and its English stop words."""
    bm25s = import_module("bm25s")
    keys = list(given.corpus)
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(given.corpus.values()), stopwords="en", show_progress=False), show_progress=False)

    async def ask(query: str) -> list[str]:
        tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
        places, _ = index.retrieve(tokens, k=min(TOP, len(keys)), show_progress=False)
        return [keys[place] for place in places[0]]

    return ask


async def _langchain(given: RetrievalSet, embedder: LocalEmbedder) -> Lane:
    core = [import_module(f"langchain_core.{name}") for name in ("documents", "embeddings", "vectorstores")]
    splitter = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter

    class Same(core[1].Embeddings):
        """The embedding model of the other lanes."""

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            parts = [texts[start : start + 64] for start in range(0, len(texts), 64)]
            return [list(one) for part in parts for one in (await embedder.embed(LOCAL, MODEL, part)).vectors]

        async def aembed_query(self, text: str) -> list[float]:
            return (await self.aembed_documents([text]))[0]

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise NotImplementedError

        def embed_query(self, text: str) -> list[float]:
            raise NotImplementedError

    store = core[2].InMemoryVectorStore(Same())
    documents = [core[0].Document(text, metadata={"key": key}) for key, text in given.corpus.items()]
    await store.aadd_documents(splitter(chunk_size=1_000, chunk_overlap=200).split_documents(documents))

    async def ask(query: str) -> list[str]:
        return [one.metadata["key"] for one in await store.asimilarity_search(query, k=TOP * 3)]

    return ask


async def _measure(name: str, lane: Lane, given: RetrievalSet, report: Report) -> None:
    gains, recalls = list[float](), list[float]()
    for key, query in given.queries.items():
        documents = list(dict.fromkeys(await lane(query)))[:TOP]
        relevant = given.relevant[key]
        gained = sum(1 / math.log2(place + 2) for place, one in enumerate(documents) if one in relevant)
        gains.append(gained / sum(1 / math.log2(place + 2) for place in range(min(TOP, len(relevant)))))
        recalls.append(len(relevant & set(documents)) / len(relevant))
    gain, recall = (sum(values) / len(values) for values in (gains, recalls))
    report.add(name, f"{gain:.3f}", f"{recall:.3f}", values={"ndcg": gain, "recall": recall})


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
