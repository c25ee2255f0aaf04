"""Attacks as data: code that tries to do what the sandbox forbids and reports whether it could."""

from tests.integration.sandbox.attacks.attack import PRELUDE, Attack
from tests.integration.sandbox.attacks.files import FILES
from tests.integration.sandbox.attacks.interpreter import INTERPRETER
from tests.integration.sandbox.attacks.network import NETWORK
from tests.integration.sandbox.attacks.processes import PROCESSES
from tests.integration.sandbox.attacks.protocol import PROTOCOL
from tests.integration.sandbox.attacks.resources import RESOURCES

ATTACKS = (*FILES, *NETWORK, *PROCESSES, *PROTOCOL, *RESOURCES, *INTERPRETER)

__all__ = ["ATTACKS", "PRELUDE", "Attack"]
