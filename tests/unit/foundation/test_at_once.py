import pytest

from headgate.foundation.at_once import AtOnce
from headgate.foundation.errors import RateLimited


def full(most: int) -> RateLimited:
    return RateLimited(f"There are {most}.")


class TestAtOnce:
    def test_gives_each_key_so_many_places(self) -> None:
        bound = AtOnce(2, full)
        with bound.held("anna"), bound.held("anna"), bound.held("bob"):
            assert len(bound) == 3
            with pytest.raises(RateLimited, match="There are 2"), bound.held("anna"):
                raise AssertionError("there was no place")
            assert len(bound) == 3

    def test_has_a_place_again_however_one_was_left(self) -> None:
        bound = AtOnce(1, full)
        with pytest.raises(ValueError, match="broken"), bound.held("anna"):
            raise ValueError("broken")
        with bound.held("anna"):
            assert len(bound) == 1
        assert len(bound) == 0

    def test_has_no_end_where_there_is_no_limit(self) -> None:
        bound = AtOnce(0, full)
        with bound.held("anna"), bound.held("anna"), bound.held("anna"):
            assert len(bound) == 3
