from headgate.toolkit.stored.shown import MOST_CHARACTERS, cut_text


class TestCutText:
    def test_says_how_to_get_the_rest(self) -> None:
        found = cut_text("x" * (MOST_CHARACTERS + 5), "Read the resource.")
        assert found.endswith("[5 more characters. Read the resource.]")
        assert cut_text("short") == "short"
