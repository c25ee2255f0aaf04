import pytest

from headgate.foundation.errors import HeadgateError
from headgate.sandbox.pool import SandboxPool
from tests.integration.sandbox.attacks import ATTACKS, PRELUDE, Attack
from tests.integration.sandbox.attacks.attack import CONTAINED, ESCAPED
from tests.integration.sandbox.conftest import Targets
from tests.integration.sandbox.numbers import NUMBERS

pytestmark = [pytest.mark.isolated, pytest.mark.asyncio(loop_scope="module")]

SERVES = "def run(inputs): return inputs['number'] + 1"


async def launch(pool: SandboxPool, attack: Attack, targets: Targets) -> object:
    """What the attack came to: its result, or the error its call ended in."""
    inputs = {"inputs": targets.inputs()}
    try:
        return await pool.runner("mallory").call(
            PRELUDE + attack.code, "run", inputs, timeout_seconds=attack.timeout_seconds
        )
    except HeadgateError as error:
        return error


class TestAttack:
    @pytest.mark.parametrize("attack", ATTACKS, ids=str)
    async def test_is_contained_and_the_pool_goes_on(
        self, attack: Attack, shared_pool: SandboxPool, targets: Targets
    ) -> None:
        if attack.name.startswith("vfork") and "vfork" not in NUMBERS:
            pytest.skip("this architecture has no vfork")
        outcome = await launch(shared_pool, attack, targets)
        if attack.expected:
            assert isinstance(outcome, attack.expected), outcome
        else:
            assert isinstance(outcome, str), outcome
            assert outcome.startswith(CONTAINED), outcome
        assert attack.words in str(outcome)
        targets.assert_untouched()
        assert await shared_pool.runner("alice").call(SERVES, "run", {"inputs": {"number": 1}}) == 2


class TestAttackWithoutIsolation:
    """The same code where isolation is off: it gets through, so the attacks are real and the layers are what holds."""

    @pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.escapes_outside], ids=str)
    async def test_escapes(self, attack: Attack, insecure_pool: SandboxPool, targets: Targets) -> None:
        outcome = await launch(insecure_pool, attack, targets)
        assert str(outcome).startswith(ESCAPED), outcome
