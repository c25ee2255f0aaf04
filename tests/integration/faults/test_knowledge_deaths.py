"""A server killed while it indexes the documents of a source or a flow: nothing is lost or embedded twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.installation import SCALE, Installation
from tests.integration.faults.knowledge_deaths import FlowKilling, Killing
from tests.support.embedding_server import EmbeddingServer

FILES = 24 * SCALE
PARAGRAPHS = 5
DEATHS = (0.4,) if SCALE == 1 else (0.1, 0.4, 0.7)
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.mark.campaign
async def test_a_killed_synchronisation_continues_and_embeds_nothing_twice(
    installation: Installation, settings: Settings, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    database = Database(settings)
    await Killing(installation, database, embeddings, FILES, PARAGRAPHS, DEATHS).run(tmp_path / "opened")
    await database.close()


async def test_a_killed_step_that_indexes_documents_continues_and_embeds_nothing_twice(
    installation: Installation, settings: Settings, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    database = Database(settings)
    deaths = (0.5, 0.6, *DEATHS[2:])
    await FlowKilling(installation, database, embeddings, FILES, PARAGRAPHS, deaths).run(tmp_path / "opened")
    await database.close()
