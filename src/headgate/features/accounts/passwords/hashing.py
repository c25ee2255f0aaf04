"""Password hashes: Argon2id with the parameters of RFC 9106's second recommendation, 3 passes over 64 MiB.

A hash takes tens of milliseconds by design. Hashes run in threads with limited concurrency, so that the server stays
responsive and many concurrent sign-ins use a bounded amount of memory.
"""

import asyncio
import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from headgate.features.accounts.passwords.rules import normalized
from headgate.foundation.errors import Unavailable

SALT_BYTES = 16
HASH_BYTES = 32
AT_ONCE = 2
"""Maximum concurrent hashes in one process: 128 MiB."""
MOST_WAITING = 64
"""Maximum waiting requests, some seconds each; further ones are asked to retry later."""
T = TypeVar("T")


@dataclass(frozen=True)
class Costs:
    """Parameters of Argon2id."""

    passes: int
    memory_kib: int
    lanes: int

    @property
    def prefix(self) -> str:
        """What a hash with these parameters begins with."""
        return f"$argon2id$v=19$m={self.memory_kib},t={self.passes},p={self.lanes}$"


COSTS = Costs(passes=3, memory_kib=65536, lanes=4)
"""The second recommendation of RFC 9106."""


class Passwords:
    """Hashes passwords and compares them."""

    def __init__(self, *, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._turn = asyncio.Semaphore(at_once)
        self._most = at_once + most_waiting
        self._here = 0

    async def hash(self, password: str) -> str:
        """Return the stored form of a password: Argon2id in its standard text form, with parameters and salt."""
        return await self._in_turn(lambda: _hashed(normalized(password)))

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Return whether it is the password of the stored hash.

        When `password_hash` is None, because there is no such user or no password was set, a dummy hash is compared, so
        that the response takes as long as any other.
        """
        return await self._in_turn(lambda: _fits(password_hash, normalized(password)))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        if self._here >= self._most:
            raise Unavailable("Too many sign-ins at the same time.", remedy="Try again in a moment.")
        self._here += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(work)
        finally:
            self._here -= 1


def is_outdated(password_hash: str) -> bool:
    """Return whether a hash has other than the current parameters."""
    return not password_hash.startswith(COSTS.prefix)


def _hashed(password: str) -> str:
    algorithm = _argon2()(
        salt=os.urandom(SALT_BYTES),
        length=HASH_BYTES,
        iterations=COSTS.passes,
        lanes=COSTS.lanes,
        memory_cost=COSTS.memory_kib,
    )
    return str(algorithm.derive_phc_encoded(password.encode()))


def _fits(password_hash: str | None, password: str) -> bool:
    mismatch: type[Exception] = import_module("cryptography.exceptions").InvalidKey
    try:
        _argon2().verify_phc_encoded(password.encode(), password_hash or _dummy_hash())
    except (mismatch, ValueError):
        return False
    return True


def _dummy_hash() -> str:
    """Return a well-formed hash with the current parameters and no known password: all its bits are zero."""
    salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (SALT_BYTES, HASH_BYTES))
    return f"{COSTS.prefix}{salt}${digest}"


def _argon2() -> Any:  # noqa: ANN401 - a class that is imported late
    """The algorithm, imported when the first password is hashed; most processes never see one."""
    return import_module("cryptography.hazmat.primitives.kdf.argon2").Argon2id
