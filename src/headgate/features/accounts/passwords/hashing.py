"""Passwords are kept as Argon2id hashes with the parameters of RFC 9106's second recommendation: 3 passes over 64 MiB.

A hash takes tens of milliseconds by design. It is made in a thread, a few at once, so that the server goes on answering
and a crowd at the door takes a bounded amount of memory.
"""

import asyncio
import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from headgate.features.accounts.passwords.rules import normalized
from headgate.foundation.errors import Unavailable

if TYPE_CHECKING:  # imported when the first password is hashed; most processes never see one
    import argon2

AT_ONCE = 2
"""Hashes made at once in one process: 128 MiB."""
MOST_WAITING = 64
"""How many may wait for their turn, some seconds each; who comes later is told to come again."""
T = TypeVar("T")


class Passwords:
    """Hashes passwords and compares them."""

    def __init__(self, *, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._turn = asyncio.Semaphore(at_once)
        self._most = at_once + most_waiting
        self._here = 0

    async def hash(self, password: str) -> str:
        """What is kept of a password: Argon2id in its usual text form, with its parameters and salt."""
        return await self._in_turn(lambda: _hasher().hash(normalized(password)))

    async def verify(self, kept: str | None, password: str) -> bool:
        """Whether it is the password that was kept.

        `kept` is None where nobody is, or no password was ever set: a hash that nothing fits is compared with, so that
        the answer takes as long as any other.
        """
        return await self._in_turn(lambda: _fits(kept, normalized(password)))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        if self._here >= self._most:
            raise Unavailable("Too many people are signing in at once.", remedy="Try again in a moment.")
        self._here += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(work)
        finally:
            self._here -= 1


def is_outdated(kept: str) -> bool:
    """Whether a hash was made with other parameters than those of today."""
    return _hasher().check_needs_rehash(kept)


def _fits(kept: str | None, password: str) -> bool:
    hasher = _hasher()
    try:
        return hasher.verify(kept or _nobodys(hasher), password)
    except _mismatches():
        return False


def _nobodys(hasher: "argon2.PasswordHasher") -> str:
    """A well-formed hash with today's parameters that no password is known for: all its bits are zero."""
    salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


def _hasher() -> "argon2.PasswordHasher":
    return _argon2()[0]


def _mismatches() -> tuple[type[Exception], ...]:
    return _argon2()[1]


def _argon2() -> "tuple[argon2.PasswordHasher, tuple[type[Exception], ...]]":
    import argon2  # noqa: PLC0415 - heavy, see above

    hasher = argon2.PasswordHasher.from_parameters(argon2.profiles.RFC_9106_LOW_MEMORY)
    return hasher, (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError)
