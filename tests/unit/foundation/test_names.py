import pytest

from headgate.foundation.names import name_from, visible_name

JOINED = {
    "a profession": "\U0001f469\u200d\U0001f4bb",
    "with a tone of skin": "\U0001f469\U0001f3fd\u200d\U0001f52c",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a coloured form": "\u2764\ufe0f\u200d\U0001f525",
    "a sign at the end": "\U0001f3c3\u200d\u2642\ufe0f",
    "with an arrow": "\U0001f3c3\u200d\u27a1\ufe0f",
}
HIDING = {
    "in a word": "adm\u200din",
    "at the beginning": "\u200d\U0001f4bb",
    "at the end": "\U0001f469\u200d",
    "before a letter": "\U0001f469\u200da",
    "behind a letter": "a\u200d\U0001f4bb",
    "twice": "\U0001f469\u200d\u200d\U0001f4bb",
    "in Arabic": "\u0645\u200d\u0646",
    "after a variation mark alone": "a\ufe0f\u200d\U0001f4bb",
}


class TestJoiners:
    @pytest.mark.parametrize("name", JOINED.values(), ids=JOINED)
    def test_make_one_picture_of_several(self, name: str) -> None:
        assert visible_name(f"Team {name}") == f"Team {name}"
        assert name_from(f"Team {name}", longest=50, otherwise="x") == f"Team {name}"

    @pytest.mark.parametrize("name", HIDING.values(), ids=HIDING)
    def test_hide_nothing_elsewhere(self, name: str) -> None:
        with pytest.raises(ValueError, match="U\\+200D"):
            visible_name(name)

    @pytest.mark.parametrize("longest", range(1, 8))
    def test_are_not_left_at_the_end_of_a_name_that_is_cut(self, longest: int) -> None:
        name = name_from("\U0001f468\u200d\U0001f469\u200d\U0001f467 x", longest=longest, otherwise="x")
        assert visible_name(name) == name
