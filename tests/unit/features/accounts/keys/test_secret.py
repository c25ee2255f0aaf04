"""The form of API keys."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.accounts.keys.secret import PREFIX_LENGTH, hash_of, is_key, new_key, prefix_of
from headgate.foundation.log import redact_text

LETTERS = string.ascii_letters + string.digits


class TestKeys:
    def test_have_a_visible_part_a_secret_part_and_a_checksum(self) -> None:
        assert re.fullmatch(r"hg_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}", new_key())

    def test_are_never_the_same(self) -> None:
        made = {new_key() for _ in range(1000)}
        assert len(made) == 1000
        assert len({prefix_of(key) for key in made}) == 1000

    def test_are_told_from_anything_else(self) -> None:
        key = new_key()
        assert is_key(key)
        for wrong in ("", "hg_", key[:-1], key + "0", " " + key, key + "\n", key.upper(), "sk" + key[2:], "é" * 55):
            assert not is_key(wrong), wrong

    @given(st.integers(0, 54), st.sampled_from(LETTERS))
    def test_with_one_letter_changed_are_no_keys(self, place: int, letter: str) -> None:
        key = new_key()
        changed = key[:place] + letter + key[place + 1 :]
        assert is_key(changed) == (changed == key)

    @given(st.integers(3, 53))
    def test_with_two_neighbours_swapped_are_no_keys(self, place: int) -> None:
        key = new_key()
        changed = key[:place] + key[place + 1] + key[place] + key[place + 2 :]
        assert is_key(changed) == (changed == key)

    def test_show_a_prefix_that_fits_its_column(self) -> None:
        key = new_key()
        assert prefix_of(key) == key[:PREFIX_LENGTH]
        assert PREFIX_LENGTH <= 24

    def test_are_kept_as_a_hash(self) -> None:
        key = new_key()
        assert re.fullmatch(r"[0-9a-f]{64}", hash_of(key))
        assert hash_of(key) == hash_of(key)
        assert hash_of(key) != hash_of(new_key())

    @pytest.mark.parametrize("text", ["key is {} here", "Authorization: Bearer {}", '{{"x-api-key": "{}"}}', "{}"])
    def test_never_get_into_a_log(self, text: str) -> None:
        key = new_key()
        assert key[PREFIX_LENGTH:] not in redact_text(text.format(key))
