"""Knowledge: a server that is killed several times while it reads, indexes and embeds a folder of 10,000 files.

A real server synchronises the folder as a source: each file is read in the sandbox, stored, indexed, and embedded by a
model server on loopback. It is killed (SIGKILL) when 10, 35, 60 and 85 per cent of the documents have a vector, and
started again. Afterwards every file must be one ready document with all of its passages and vectors, and the model
server must have received no text again whose vector was stored.

    python -m benchmarks.knowledge_deaths [--quick | --smoke] [--json FILE]
"""

import asyncio
import tempfile
from pathlib import Path

from tests.integration.faults.installation import Installation
from tests.integration.faults.knowledge_deaths import Killing
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.embedding_server import EmbeddingServer

from benchmarks.measure import Options, Report, arguments
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

DEATHS = (0.1, 0.35, 0.6, 0.85)
FEW = 100
"""Fewer files than that, and the server is killed once."""
PARAGRAPHS = 2
PATIENCE_SECONDS = 7_200.0


async def main(options: Options) -> None:
    """Measure and print."""
    files = options.choose(10_000, 300, 24)
    report = Report(
        "Knowledge: documents over the deaths of their server",
        ("database", "documents", "passages", "deaths", "seconds", "documents/s", "lost", "embedded twice"),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        await _measure("SQLite", make_settings(Path(folder) / "sqlite"), files, report)
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "deaths", careless=())
        try:
            with server.fresh() as url:
                await _measure("PostgreSQL", make_settings(Path(folder) / "pg", url), files, report)
        finally:
            server.close()
    report.finish(options, picture="knowledge-deaths.png")


async def _measure(name: str, settings: Settings, files: int, report: Report) -> None:
    deaths = DEATHS if files >= FEW else DEATHS[2:3]
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    environment = {"HEADGATE_DATABASE__URL": settings.database.url, "HEADGATE_LOG__LEVEL": "warning"}
    installation, database = Installation(settings.data_dir, environment), Database(settings)
    try:
        with EmbeddingServer() as embeddings:
            killing = Killing(installation, database, embeddings, files, PARAGRAPHS, deaths, PATIENCE_SECONDS)
            outcome = await killing.run(settings.data_dir / "opened")
    finally:
        installation.close()
        await database.close()
    rate = files / outcome.seconds
    report.add(
        *(name, f"{files:,}", f"{outcome.passages:,}", str(len(deaths)), f"{outcome.seconds:,.0f}", f"{rate:.1f}"),
        *("0", "0"),  # asserted
        values={
            "documents": files, "passages": outcome.passages, "deaths": len(deaths), "seconds": outcome.seconds,
            "restart_seconds": outcome.restarts, "documents_per_second": rate, "lost": 0, "embedded_twice": 0,
        },
    )  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
