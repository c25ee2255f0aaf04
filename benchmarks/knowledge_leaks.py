"""Knowledge: adversarial queries of a user without rights, and how many passages of hidden documents they get.

A base has 32 documents that only their owner, publishers or owners of the space may read, and 8 that everyone may. A
user who may run flows asks: quotes of hidden texts, ids of documents and bases, query syntax of the databases, and
instructions; by words, by meaning and by both, in turns. The author of the documents gets them with the same searches.
Embeddings are bags of words, so that a quote is near to its document.

    python -m benchmarks.knowledge_leaks [--quick | --smoke] [--json FILE]
"""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import get_args

from tests.support.databases import Postgres, make_settings, migrate
from tests.support.knowledge import open_shelf
from tests.support.knowledge_attacks import leaks, open_scene

from benchmarks.knowledge import add_user
from benchmarks.measure import Options, Report, arguments
from headgate.features.knowledge.search.schemas import Mode
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

MODES: tuple[Mode, ...] = get_args(Mode)


async def main(options: Options) -> None:
    """Measure and print."""
    queries = options.choose(10_000, 600, 30)
    report = Report(
        "Knowledge: adversarial queries without rights",
        ("database", "queries", "passages", "of hidden documents", "seconds"),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        await _measure("SQLite", make_settings(Path(folder) / "sqlite"), queries, report)
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "leaks", careless=())
        try:
            with server.fresh() as url:
                await _measure("PostgreSQL", make_settings(Path(folder) / "pg", url), queries, report)
        finally:
            server.close()
    report.finish(options, picture="knowledge-leaks.png")


async def _measure(name: str, settings: Settings, queries: int, report: Report) -> None:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    database = Database(settings)
    shelf = open_shelf(database, settings.data_dir)
    async with shelf.jobs.running():
        scene = await open_scene(shelf, await add_user(database), await add_user(database))
        passages = leaked = 0
        began = time.perf_counter()
        for number, query in enumerate(scene.queries(queries)):
            answer = await scene.search(scene.viewer, query, MODES[number % len(MODES)])
            passages += len(answer.hits)
            leaked += leaks(answer)
        seconds = time.perf_counter() - began
        for mode in MODES:
            assert {"hidden0", "open0"} <= await scene.everything(mode), "the author gets them"
    await database.close()
    report.add(
        name, f"{queries:,}", f"{passages:,}", str(leaked), f"{seconds:,.0f}",
        values={"row": name, "queries": queries, "passages": passages, "leaked": leaked, "seconds": seconds},
    )  # fmt: skip
    assert leaked == 0


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
