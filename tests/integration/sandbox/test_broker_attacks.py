import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_network

import pytest
import pytest_asyncio

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.graph.manifest import Manifest
from headgate.sandbox import libraries
from headgate.sandbox.broker.rules import NetworkRules
from headgate.sandbox.hosts import read_pattern
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.reading.manifest import derive_manifest
from tests.integration.sandbox.attacks import PRELUDE, Attack
from tests.integration.sandbox.attacks.attack import CONTAINED
from tests.integration.sandbox.attacks.broker import BROKER, HELP
from tests.integration.sandbox.attacks.network import NETWORK
from tests.integration.sandbox.attacks.processes import PROCESSES
from tests.integration.sandbox.conftest import LIMITS, Targets
from tests.integration.sandbox.numbers import NUMBERS
from tests.integration.sandbox.test_host_calls import GIVE, HOSTING
from tests.support.web_server import WebServer, answer, redirect, web_server

pytestmark = [pytest.mark.isolated, pytest.mark.asyncio(loop_scope="module")]

SERVES = "def run(inputs): return inputs + 1"
ADDRESSES = {
    "api.test": ["127.0.0.1"],
    "other.test": ["127.0.0.1"],
    "closed.test": ["127.0.0.1"],
    "inner.test": ["127.0.0.2"],
    "metadata.test": ["169.254.169.254"],
    "mixed.test": ["127.0.0.1", "127.0.0.2"],
}
NUMERIC = ("169.254.169.254", "10.0.0.7", "127.0.0.2", "0.0.0.0", "[::1]", "[::ffff:7f00:2]")
FORMS = ("[64:ff9b::7f00:2]", "[2002:7f00:2::1]")
NAMES = ("api.test", "closed.test", "inner.test", "metadata.test", "mixed.test", "rebind.test", "slow.test")


class Dns:
    """Answers as attackers' servers do."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a name; `rebind.test` has a good one first and bad ones from then on."""
        if host == "slow.test":
            await asyncio.sleep(60)
        if host == "rebind.test":
            self.asked += 1
            return ["127.0.0.1"] if self.asked == 1 else ["127.0.0.2"]
        if host not in ADDRESSES:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return ADDRESSES[host]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def allowed() -> AsyncIterator[WebServer]:
    """The one server that may be reached."""
    async with web_server() as server:
        server.on("/", answer(200, "hello"))
        server.on("/away", redirect(f"http://other.test:{server.port}/"))
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def connected() -> AsyncIterator[SandboxPool]:
    """One pool for all attacks: it has to survive them."""
    hosts = [*(f"{name}:*" for name in NAMES if name != "closed.test"), "127.0.0.1", *NUMERIC, *FORMS, "evil.test:*"]
    patterns = tuple(read_pattern(host if host.endswith(":*") else f"{host}:*") for host in hosts)
    pool = SandboxPool(
        scan=False,
        limits=LIMITS,
        size=PoolSize(running=2, spare=1, idle=2),
        hosts=(GIVE,),
        import_paths=(*libraries.installed_packages(), str(HOSTING)),
        network=NetworkRules(patterns, AddressPolicy([ip_network("127.0.0.1/32")]), Dns().resolve),
    )
    yield pool
    await pool.aclose()


async def launch(pool: SandboxPool, attack: Attack, targets: Targets, port: int, code: str) -> object:
    """What the attack came to in a worker that may connect."""
    hosts = tuple(f"{host}:{port}" for host in (*NAMES, *NUMERIC, *FORMS))
    manifest = Manifest(derive_manifest(code).imports, hosts)
    inputs = {"inputs": targets.inputs() | {"allowed": port}}
    try:
        return await pool.runner("mallory").call_host(
            code, GIVE, inputs, manifest=manifest, timeout_seconds=attack.timeout_seconds
        )
    except HeadgateError as error:
        return error


async def assert_contained(attack: Attack, pool: SandboxPool, targets: Targets, port: int, *, helped: str = "") -> None:
    """The attack fails as it should, reaches nothing, and the next component is served."""
    outcome = await launch(pool, attack, targets, port, PRELUDE + helped + attack.code)
    if attack.expected:
        assert isinstance(outcome, attack.expected), outcome
    else:
        assert isinstance(outcome, str), outcome
        assert outcome.startswith(CONTAINED), outcome
    assert attack.words in str(outcome)
    targets.assert_untouched()
    assert await pool.runner("alice").call_host(SERVES, GIVE, {"inputs": 1}, manifest=Manifest((), ("api.test",))) == 2


class TestBrokerAttack:
    @pytest.mark.parametrize("attack", BROKER, ids=str)
    async def test_is_contained_and_the_pool_goes_on(
        self, attack: Attack, connected: SandboxPool, allowed: WebServer, targets: Targets
    ) -> None:
        await assert_contained(attack, connected, targets, allowed.port, helped=HELP)


class TestAttackWithNetwork:
    """Code that may connect can do nothing else more than other code."""

    REST = tuple(attack for attack in (*NETWORK, *PROCESSES) if attack.name != "resolve a name")
    """Names resolve to stand-ins here."""

    @pytest.mark.parametrize("attack", REST, ids=str)
    async def test_is_contained(
        self, attack: Attack, connected: SandboxPool, allowed: WebServer, targets: Targets
    ) -> None:
        if attack.name.startswith("vfork") and "vfork" not in NUMBERS:
            pytest.skip("this architecture has no vfork")
        await assert_contained(attack, connected, targets, allowed.port)
