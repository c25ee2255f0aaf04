import asyncio
import threading

import pytest
from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from headgate.features.accounts.passwords import hashing
from headgate.features.accounts.passwords.hashing import Passwords, is_outdated
from headgate.foundation.errors import Unavailable

PASSWORD = "correct horse battery"
SHORT_SALT = "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA"
FORMER = "$argon2id$v=19$m=65536,t=3,p=4$DA3xM7qQ1I1UGh8S8EgH/w$3F3NeSOFKBnyjM/78wzII+BrPSGIhyVQgLWb3PZ7OgI"


class TestPasswords:
    async def test_fit_the_hash_made_of_them_and_no_other(self) -> None:
        passwords = Passwords()
        kept = await passwords.hash(PASSWORD)
        assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
        assert PASSWORD not in kept
        assert await passwords.verify(kept, PASSWORD)
        assert not await passwords.verify(kept, PASSWORD + " ")
        assert not await passwords.verify(kept, PASSWORD.upper())

    async def test_have_a_salt_of_their_own(self) -> None:
        passwords = Passwords()
        assert await passwords.hash(PASSWORD) != await passwords.hash(PASSWORD)

    async def test_are_the_same_however_letters_are_composed(self) -> None:
        passwords = Passwords()
        assert await passwords.verify(await passwords.hash("bl\u00e5b\u00e4rssoppa"), "bla\u030aba\u0308rssoppa")

    @pytest.mark.parametrize(
        "kept",
        [
            None,
            "",
            "plain text",
            "$argon2id$v=19$m=65536,t=3,p=4$AAAA",
            "$2b$12$abc",
            SHORT_SALT,
        ],
    )
    async def test_fit_nothing_where_nothing_was_kept(self, kept: str | None) -> None:
        assert not await Passwords().verify(kept, PASSWORD)

    async def test_are_compared_with_a_full_hash_where_nobody_is(self) -> None:
        """The hash of nobody is read by the library and has today's costs, so that it takes as long."""
        nobodys = hashing._dummy_hash()
        assert not is_outdated(nobodys)
        with pytest.raises(InvalidKey, match="do not match"):
            Argon2id.verify_phc_encoded(PASSWORD.encode(), nobodys)

    async def test_made_by_the_former_library_still_fit(self) -> None:
        """Of argon2-cffi 25.1, with the same parameters."""
        assert await Passwords().verify(FORMER, PASSWORD)
        assert not await Passwords().verify(FORMER, PASSWORD + " ")
        assert not is_outdated(FORMER)

    async def test_are_hashed_a_few_at_once_while_the_loop_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        here, most, lock = 0, 0, threading.Lock()
        free, arrived = threading.Event(), threading.Semaphore(0)

        def fits(kept: str | None, password: str) -> bool:
            nonlocal here, most
            with lock:
                here += 1
                most = max(most, here)
            arrived.release()
            free.wait(30)
            with lock:
                here -= 1
            return True

        monkeypatch.setattr(hashing, "_fits", fits)
        passwords = Passwords(at_once=2, most_waiting=4)
        crowd = [asyncio.create_task(passwords.verify(None, PASSWORD)) for _ in range(6)]
        for _ in range(2):
            assert await asyncio.to_thread(arrived.acquire, timeout=30)
        with pytest.raises(Unavailable, match="Too many sign-ins at the same time"):
            await passwords.verify(None, PASSWORD)
        free.set()
        assert await asyncio.gather(*crowd) == [True] * 6
        assert most == 2
        assert await passwords.verify(None, PASSWORD)


class TestIsOutdated:
    async def test_says_whether_the_costs_are_those_of_today(self) -> None:
        assert not is_outdated(await Passwords().hash(PASSWORD))
        assert is_outdated("$argon2id$v=19$m=8192,t=1,p=4$AAAAAAAAAAAAAAAAAAAAAA$" + "A" * 43)
