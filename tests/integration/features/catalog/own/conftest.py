"""A real sandbox, kept for a whole module."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from headgate.components import BUILTINS
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.registry import Registry
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.report import probe


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the system cannot isolate, own code is refused and there is nothing to try."""
    missing = probe().missing
    for item in items:
        if missing and item.get_closest_marker("isolated"):
            item.add_marker(pytest.mark.skip(reason=f"this system lacks {missing[0].name}: {missing[0].detail}"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[SandboxPool]:
    made = SandboxPool(size=PoolSize(running=1, spare=1, idle=2))
    yield made
    await made.aclose()


@pytest.fixture
def checker(pool: SandboxPool) -> ComponentChecker:
    return ComponentChecker(pool, Registry(BUILTINS))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "isolated: needs a system on which code can be isolated")
