"""DBOS: a workflow of ten steps on PostgreSQL, with its own defaults."""

from dbos import DBOS

from benchmarks.peers.port import STEPS, Peer


@DBOS.step()
async def step(text: str) -> str:
    """Do nothing."""
    return text


@DBOS.workflow()
async def workflow(text: str) -> str:
    """Ten steps, one after the other."""
    for _ in range(STEPS):
        text = await step(text)
    return text


class Workflows:
    """Runs workflows in this process."""

    def __init__(self, postgres: str) -> None:
        DBOS(config={"name": "benchmark", "system_database_url": postgres, "log_level": "ERROR"})

    async def open(self) -> None:
        """Make its tables, start its threads."""
        DBOS.launch()

    async def run(self) -> None:
        """One workflow."""
        await workflow("hello")

    async def close(self) -> None:
        """Stop its threads."""
        DBOS.destroy()


def make(postgres: str, url: str) -> Peer:  # noqa: ARG001 - it needs no Redis
    """The peer."""
    return Workflows(postgres)
