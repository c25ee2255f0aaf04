from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.ids import is_id, new_id


class TestNewId:
    def test_is_a_version_7_uuid_of_36_characters(self) -> None:
        found = new_id()
        assert len(found) == 36
        assert UUID(found).version == 7
        assert is_id(found)

    @given(st.integers(2, 300))
    def test_sorts_by_time_within_a_millisecond_too(self, count: int) -> None:
        made = [new_id() for _ in range(count)]
        assert made == sorted(made)

    def test_never_repeats_across_threads(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            made = [found for batch in pool.map(lambda _: [new_id() for _ in range(2000)], range(8)) for found in batch]
        assert len(set(made)) == 16_000


class TestIsId:
    @pytest.mark.parametrize(
        "text", ["", "x", "../../etc/passwd", "0" * 36, "-" * 36, "00000000-0000-7000-8000-00000000000G",
                 "00000000-0000-7000-8000-000000000001\n", "00000000-0000-7000-8000-0000\x0000000001",
                 "00000000-0000-7000-8000-00000000000\u0661", "00000000-0000-7000-8000-00000000000A"]
    )  # fmt: skip
    def test_refuses_everything_else(self, text: str) -> None:
        assert not is_id(text)
