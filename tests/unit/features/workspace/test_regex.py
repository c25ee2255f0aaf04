import pytest

from headgate.features.workspace.errors import PatternRefused
from headgate.features.workspace.regex import LONGEST_PATTERN, finder, nested_quantifier


class TestNestedQuantifier:
    @pytest.mark.parametrize(
        "pattern",
        ["(a+)+", "(a*)*", "(?:a+)*", "(a|b+){2,}", "((a+)b)+", "(?P<x>a+)+?", "(x(a{1,})y)*", "([a-z]+)+$", "((a+)?)*",
         "(a+?)+", r"(\w+\s*)+", "(.*)*"],
    )  # fmt: skip
    def test_is_found(self, pattern: str) -> None:
        assert nested_quantifier(pattern) is not None
        with pytest.raises(PatternRefused, match="Regex pattern rejected: nested unbounded quantifier"):
            finder(pattern, case_insensitive=False, is_regex=True)

    @pytest.mark.parametrize(
        "pattern",
        ["a+b*", "(a+)", "(a+)b*", "(ab)+", "(a{2,3})+", "(a+){2}", r"(\+)+", "([+*])+", "(a+)?", r"\(a+\)+", "[(a+)]+",
         "([^]+]x)+", r"\Q(a+)+\E", "a{x}+", "([[:alpha:]+])*", "(?i)a+", "a+|(b)*", ""],
    )  # fmt: skip
    def test_is_not_seen_where_there_is_none(self, pattern: str) -> None:
        assert nested_quantifier(pattern) is None


class TestFinder:
    def test_takes_a_text_as_it_stands(self) -> None:
        has = finder("a.b(", case_insensitive=False, is_regex=False)
        assert has("x a.b( y")
        assert not has("axb(")
        assert not has("A.B(")

    def test_folds_case(self) -> None:
        assert finder("STRASSE", case_insensitive=True, is_regex=False)("Straße 1")
        assert finder("^über", case_insensitive=True, is_regex=True)("ÜBER uns")

    def test_matches_each_line_for_itself(self) -> None:
        has = finder(r"^\d{4}$", case_insensitive=False, is_regex=True)
        assert has("2026")
        assert not has("x2026")

    @pytest.mark.parametrize("pattern", ["(", "a**b", r"(a)\1", "(?=x)", "[z-a]", "a{1001}", "\ud800"])
    def test_says_what_re2_cannot_run(self, pattern: str) -> None:
        with pytest.raises(PatternRefused, match="Invalid regex"):
            finder(pattern, case_insensitive=False, is_regex=True)

    def test_bounds_the_pattern(self) -> None:
        for pattern in ("", "a" * (LONGEST_PATTERN + 1)):
            with pytest.raises(PatternRefused, match="1 to"):
                finder(pattern, case_insensitive=False, is_regex=False)
