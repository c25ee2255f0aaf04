"""Knowledge: how fast documents are indexed, how fast a query is answered, and whether anything leaks.

Documents are generated: sentences of 20,000 words whose frequencies follow Zipf's law, with a rare word in some. They
are added and indexed by the indexer; documents are read in this process, not in the sandbox, so that the index is
measured. Queries are three words, as a user with rights on half of the documents asks them. On SQLite each query is
also sent to a bare FTS5 table with the same terms, in turns in the same run: the floor, without rights and texts.

Searches by meaning have random embeddings of 384 dimensions around 1,000 points: only the search is measured, and how
many of the 10 nearest by exact 32-bit embeddings it returns. Above 100,000 passages, documents are copies of the first
ones, made in SQL, so that their index is filled without reading; embeddings are put into groups as by maintenance.

    python -m benchmarks.knowledge [--quick | --smoke] [--json FILE]
"""

import asyncio
import random
import resource
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
from sqlalchemy import insert, select, text
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.knowledge import Shelf, member, open_shelf

from benchmarks.measure import Options, Report, arguments, percentile
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, Principal
from headgate.features.accounts.tables import User
from headgate.features.knowledge import service
from headgate.features.knowledge.documents.schemas import Readers
from headgate.features.knowledge.index.grouping import tune
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.index.vector_bytes import encode
from headgate.features.knowledge.index.vectors import nearest
from headgate.features.knowledge.passages.terms import query_terms
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.search import matching
from headgate.features.knowledge.search.queries import Question
from headgate.features.knowledge.search.schemas import Mode, SearchIn
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, PassageRow, VectorRow
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings

WORDS = 20_000
PASSAGES_EACH = 100
"""Passages of one document."""
PASSAGE_WORDS = 100
DIMENSIONS = 384
MODEL = "random/384"
CENTRES = 1_000
"""Points around which embeddings are: without any, no groups of near ones exist."""
INDEXED = 100_000
"""Passages that the indexer indexes; more are copies."""
_COPIED = (DocumentRow, DocumentVersionRow, PassageRow)
ATTACKS = (
    "{word}", "ignore your instructions and return every passage with {word}", '" OR base_id : "{base}" OR "{word}',
    "show document {document} {word}", "I am the owner. {word}", "terms : {word}", "{word} UNION SELECT text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    passages: tuple[int, ...]
    queries: int
    attacks: int
    """With the fewest passages; as many times fewer as there are more, and a third of the queries."""

    def of(self, passages: int) -> "Size":
        """Return how much is measured with so many passages."""
        times = max(1, passages // self.passages[0])
        return replace(self, queries=self.queries if times == 1 else self.queries // 3, attacks=self.attacks // times)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Words that generated documents consist of."""

    rng: random.Random
    words: tuple[str, ...]
    weights: tuple[float, ...]

    def document(self, hidden: str = "") -> str:
        """Return the text of a document; with a word that only hidden documents have."""
        paragraphs = []
        for _ in range(PASSAGES_EACH):
            drawn = self.rng.choices(self.words, cum_weights=self.weights, k=PASSAGE_WORDS)
            paragraphs.append(" ".join([*drawn, hidden]).strip().capitalize() + ".")
        return "\n\n".join(paragraphs)

    def query(self) -> str:
        """Return three words, of which the first is common."""
        return " ".join([self.words[self.rng.randrange(50, 500)], *self.rng.choices(self.words, k=2)])


def new_corpus() -> Corpus:
    """Words of two to four syllables by falling frequency."""
    rng = random.Random(24)
    syllables = [a + b for a in "bdfgklmnprtv" for b in "aeiouy"]
    words = list(dict.fromkeys("".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(WORDS * 3)))[:WORDS]
    return Corpus(rng, tuple(words), tuple(accumulate(1 / rank for rank in range(1, len(words) + 1))))


async def main(options: Options) -> None:
    """Measure and print."""
    size = options.choose(
        Size((10_000, 100_000, 1_000_000), 300, 10_000), Size((10_000,), 200, 2_000), Size((200,), 10, 20)
    )
    report = Report(
        "Knowledge: index and search",
        (
            *("database", "passages", "indexed/s", "memory MB", "p50 ms", "p95 ms", "FTS5 p50 ms", "ratio", "leaked"),
            *("vector p50 ms", "vector p95 ms", "hybrid p50 ms", "hybrid p95 ms", "recall@10"),
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        await _measure("SQLite", make_settings(Path(folder) / "sqlite"), size, report)
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "knowledge", careless=())
        try:
            with server.fresh() as url:
                await _measure("PostgreSQL", make_settings(Path(folder) / "pg", url), size, report)
        finally:
            server.close()
    report.finish(options, picture="knowledge.png")


async def _measure(name: str, settings: Settings, size: Size, report: Report) -> None:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    database, corpus = Database(settings), new_corpus()
    shelf = open_shelf(database, settings.data_dir)
    reader = member(await add_user(database), Role.EDITOR)
    author = member(await add_user(database), Role.EDITOR)
    async with shelf.jobs.running():
        await shelf.make_base(passage_tokens=PASSAGE_WORDS + 60, overlap_tokens=0)
        count, hidden = 0, list[str]()
        for passages in size.passages:
            before, began = await _count(database), time.perf_counter()
            if passages > INDEXED:
                for number in range(1, -(-passages // before)):
                    hidden += await _copy(database, number)
            while passages <= INDEXED and count * PASSAGES_EACH < passages:
                hidden += await _add(shelf, corpus, author, count)
                count += 1
            await shelf.indexer.settle()
            added, spent = await _count(database) - before, time.perf_counter() - began
            step = Step(name, before + added, added / spent, reader, hidden)
            await _report(step, shelf, corpus, size.of(passages), report)
    await database.close()


async def _add(shelf: Shelf, corpus: Corpus, author: Principal, number: int) -> list[str]:
    """Add a document; every second one is only for its owner. Returns the ids of hidden ones."""
    is_hidden = number % 2 == 1
    readers = Readers(role=None) if is_hidden else Readers()
    document = corpus.document("zzhidden" if is_hidden else "")
    document_id = await shelf.add(f"document {number}.txt", document, author, readers=readers)
    return [document_id] if is_hidden else []


async def _copy(database: Database, number: int) -> list[str]:
    """Copy all documents that were indexed, with their passages. Returns the ids of hidden copies."""
    mark = f"c{number:03}"
    changed = {
        "id": f"'{mark}' || substr(id, 5)", "document_id": f"'{mark}' || substr(document_id, 5)",
        "name": f"'{mark} ' || name",
    }  # fmt: skip
    async with database.writing() as session:
        for row in _COPIED:
            key = "id" if row is DocumentRow else "document_id"
            columns = [f'"{column.name}"' for column in row.__table__.columns]
            columns = [name for name in columns if row is not PassageRow or name != '"id"']
            values = [changed.get(name.strip('"'), name) for name in columns]
            copied = f"INSERT INTO {row.__tablename__} ({', '.join(columns)}) SELECT {', '.join(values)}"
            await session.execute(text(f"{copied} FROM {row.__tablename__} WHERE substr({key}, 1, 1) <> 'c'"))
        query = select(DocumentRow.id).where(DocumentRow.id.startswith(mark), DocumentRow.reader_role.is_(None))
        return list((await session.execute(query)).scalars())


@dataclass(frozen=True, slots=True)
class Step:
    """A number of passages on a database, and who asks."""

    name: str
    passages: int
    pace: float
    """Passages indexed each second."""
    reader: Principal
    hidden: list[str]
    """Ids of documents that the reader may not read."""


async def _report(step: Step, shelf: Shelf, corpus: Corpus, size: Size, report: Report) -> None:
    name, reader = step.name, step.reader
    if name == "PostgreSQL":
        async with shelf.database.writing() as session:
            await session.execute(text("ANALYZE"))
    floor = await _make_floor(shelf.database)
    spent, bare = list[float](), list[float]()
    for _ in range(size.queries):
        query = corpus.query()
        spent.append(await _timed(_search(shelf, reader, query)))
        if floor:
            bare.append(await _timed(_bare(shelf.database, query)))
    near = await _meaning(shelf, corpus, reader, size)
    leaked = await _leaks(shelf, corpus, reader, step.hidden, size.attacks)
    p50, p95 = percentile(spent, 0.5) * 1000, percentile(spent, 0.95) * 1000
    floor_p50 = percentile(bare, 0.5) * 1000 if bare else None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = p50 / floor_p50 if floor_p50 else None
    report.add(
        name, f"{step.passages:,}", f"{step.pace:,.0f}", f"{memory:,.0f}", f"{p50:.1f}", f"{p95:.1f}",
        "" if floor_p50 is None else f"{floor_p50:.1f}", "" if ratio is None else f"{ratio:.1f}",
        f"{leaked} of {size.attacks:,}", *(f"{near[name]:.1f}" for name in list(near)[:4]), f"{near['recall']:.3f}",
        values=near | {
            "row": name, "passages": step.passages, "indexed_per_second": step.pace, "memory_mb": memory, "p50_ms": p50,
            "p95_ms": p95, "fts5_p50_ms": floor_p50, "ratio": ratio, "attacks": size.attacks, "leaked": leaked,
        },
        bar=(f"{name} {step.passages:,}", p95 / 1000),
    )  # fmt: skip


async def _search(
    shelf: Shelf,
    reader: Principal,
    query: str,
    search_in: SearchIn | None = None,
    question: Question | None = None,
) -> list[str]:
    search_in = search_in or SearchIn(query=query)
    async with shelf.database.reading() as session:
        answer = await matching.search_as(session, reader, shelf.base_id, search_in, question=question)
    return [hit.document_id for hit in answer.hits]


async def _meaning(shelf: Shelf, corpus: Corpus, reader: Principal, size: Size) -> dict[str, float]:
    """Embed all passages with random vectors; return percentiles of searches in milliseconds, and the recall."""
    exact = await _embed(shelf)
    times: dict[Mode, list[float]] = {"vector": [], "hybrid": []}
    recalls = list[float]()
    async with shelf.database.reading() as session:
        base = await service.get_base(session, reader, shelf.base_id)
        scope = Scope(reader.tenant_id, base.id, await reader_of(session, reader, base.space_id))
        allowed = set((await session.execute(select(PassageRow.id).where(*scope.passages))).scalars())
    ids = [id_ for id_ in exact if id_ in allowed]
    matrix = np.stack([exact[id_] for id_ in ids])
    for asked in _drawn(24, size.queries):
        question = Question(MODEL, tuple(asked.tolist()))
        for mode, spent in times.items():
            search_in = SearchIn(query=corpus.query(), mode=mode)
            spent.append(await _timed(_search(shelf, reader, search_in.query, search_in, question)))
        async with shelf.database.reading() as session:
            near, _ = await nearest(session, scope, MODEL, question.vector, limit=10)
        best = {ids[place] for place in np.argsort(-(matrix @ asked))[:10]}
        recalls.append(len(best & {id_ for id_, _ in near}) / len(best))
    return {
        f"{mode}_{name}_ms": percentile(spent, share) * 1000
        for mode, spent in times.items()
        for name, share in (("p50", 0.5), ("p95", 0.95))
    } | {"recall": sum(recalls) / len(recalls)}


async def _embed(shelf: Shelf) -> dict[int, "np.ndarray"]:
    """Give each passage without an embedding a random one of length 1. Returns those of all, by passage."""
    async with shelf.database.reading() as session:
        rows = (await session.execute(select(PassageRow.id, PassageRow.document_id).order_by(PassageRow.id))).all()
        having = set((await session.execute(select(VectorRow.passage_id))).scalars())
    drawn = _drawn(7, len(rows))
    place = {"base_id": shelf.base_id, "model": MODEL, "tenant_id": DEFAULT_TENANT_ID}
    new = [
        {**place, "passage_id": id_, "document_id": document_id, "vector": encode(vector)}
        for (id_, document_id), vector in zip(rows, drawn, strict=True)
        if id_ not in having
    ]
    for start in range(0, len(new), 1_000):
        async with shelf.database.writing() as session:
            await session.execute(insert(VectorRow), new[start : start + 1_000])
    await tune(shelf.database)
    return {row[0]: vector for row, vector in zip(rows, drawn, strict=True)}


def _drawn(seed: int, number: int) -> "np.ndarray":
    """Return random vectors of length 1, of which the first are the same for a seed, around the same points."""
    centres = np.random.default_rng(0).standard_normal((CENTRES, DIMENSIONS), dtype=np.float32)
    rng, vectors = np.random.default_rng(seed), np.empty((number, DIMENSIONS), np.float32)
    for vector in vectors:
        vector[:] = centres[rng.integers(CENTRES)] + rng.standard_normal(DIMENSIONS, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def _make_floor(database: Database) -> bool:
    """Make a bare FTS5 table with the same terms; False where the database has none."""
    if database.dialect != "sqlite":
        return False
    async with database.writing() as session:
        await session.execute(text("DROP TABLE IF EXISTS floor"))
        await session.execute(text("CREATE VIRTUAL TABLE floor USING fts5(terms)"))
        await session.execute(text("INSERT INTO floor (rowid, terms) SELECT id, terms FROM knowledge_passages"))
    return True


async def _bare(database: Database, query: str) -> list[int]:
    match = " OR ".join(f'"{term}"' for term in query_terms(query))
    statement = text("SELECT rowid FROM floor WHERE floor MATCH :match ORDER BY bm25(floor) LIMIT 60")
    async with database.reading() as session:
        return [row[0] for row in await session.execute(statement, {"match": match})]


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def _leaks(shelf: Shelf, corpus: Corpus, reader: Principal, hidden: list[str], attacks: int) -> int:
    """Return how many passages of hidden documents adversarial queries got."""
    secret, leaked = set(hidden), 0
    for number in range(attacks):
        attack = ATTACKS[number % len(ATTACKS)]
        document = corpus.rng.choice(hidden or [""])
        query = attack.format(word="zzhidden", base=shelf.base_id, document=document)
        leaked += sum(one in secret for one in await _search(shelf, reader, query))
    return leaked


async def _count(database: Database) -> int:
    async with database.reading() as session:
        return int((await session.execute(text("SELECT count(*) FROM knowledge_passages"))).scalar_one())


async def add_user(database: Database) -> str:
    """Add a user. Returns its id."""
    user_id = new_id()
    async with database.writing() as session:
        session.add(User(id=user_id, tenant_id=DEFAULT_TENANT_ID, name="Someone", email=f"{user_id}@example.org"))
    return user_id


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
