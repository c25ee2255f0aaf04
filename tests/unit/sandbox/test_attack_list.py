from collections.abc import Sequence

import pytest

from tests.integration.sandbox.attacks import ATTACKS, Attack
from tests.integration.sandbox.attacks.broker import BROKER
from tests.integration.sandbox.attacks.files import FILES
from tests.integration.sandbox.attacks.interpreter import INTERPRETER
from tests.integration.sandbox.attacks.network import NETWORK
from tests.integration.sandbox.attacks.processes import PROCESSES
from tests.integration.sandbox.attacks.resources import RESOURCES

KINDS = {
    "files": (FILES, "read a file anybody may read"),
    "environment": (FILES, "read the server environment"),
    "proc": (FILES, "read the zygote memory"),
    "symlinks": (FILES, "follow a symbolic link"),
    "sockets": (NETWORK, "connect by TCP"),
    "ctypes": (INTERPRETER, "open by ctypes"),
    "dunder walks": (INTERPRETER, "walk to the built-ins"),
    "import hooks": (INTERPRETER, "hook the imports"),
    "pickles": (INTERPRETER, "open out of a pickle"),
    "fork bombs": (PROCESSES, "fork bomb"),
    "signals": (PROCESSES, "signal the server"),
    "memory bombs": (RESOURCES, "memory bomb"),
    "decompression": (RESOURCES, "decompression bomb"),
    "regular expressions": (RESOURCES, "regular expression stall"),
    "big integers": (RESOURCES, "big integer stall"),
    "broker": (BROKER, "lead a passed connection elsewhere"),
}


class TestAttacks:
    def test_are_many_and_each_is_named(self) -> None:
        every = (*ATTACKS, *BROKER)
        assert len({attack.name for attack in every}) == len(every) >= 250

    def test_are_proved_real_where_they_can_be(self) -> None:
        assert sum(attack.escapes_outside for attack in ATTACKS) >= 50

    @pytest.mark.parametrize(("attacks", "name"), KINDS.values(), ids=KINDS)
    def test_are_of_every_kind_that_was_asked_for(self, attacks: Sequence[Attack], name: str) -> None:
        assert name in {attack.name for attack in attacks}
