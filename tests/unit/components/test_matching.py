"""Regular expressions."""

import time

import pytest

from headgate.components import expressions, matching
from headgate.components.matching import Regex
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness

TEXT = "Åsa <asa@x.se>, Bo <bo@y.org>"


async def run(pattern: str, **values: object) -> dict[str, object]:
    return await StepHarness().run(Regex, {"text": TEXT, "pattern": pattern, **values})


class TestRegex:
    @pytest.mark.parametrize(
        ("pattern", "values", "outputs"),
        [
            (r"\w+@[\w.]+", {}, (["asa@x.se", "bo@y.org"], "asa@x.se\nbo@y.org", True)),
            (r"<(\w+)@", {}, (["asa", "bo"], "asa\nbo", True)),
            (r"(\w+)@(\w+)", {}, ([["asa", "x"], ["bo", "y"]], "asa\tx\nbo\ty", True)),
            (r"(?P<user>\w+)@", {}, ([{"user": "asa"}, {"user": "bo"}], "asa\nbo", True)),
            (r"BO", {"ignore_case": True}, (["Bo", "bo"], "Bo\nbo", True)),
            (r"nobody", {}, ([], "", False)),
            (r"<(\w+)@", {"mode": "extract"}, (["asa"], "asa", True)),
            (r"x(z)?", {"mode": "extract"}, ([None], "", True)),
            (r"@", {"mode": "test"}, (["@"], TEXT, True)),
            (r"q", {"mode": "test"}, ([], TEXT, False)),
            (r"<[^>]+>", {"mode": "replace"}, (["<asa@x.se>", "<bo@y.org>"], "Åsa , Bo ", True)),
        ],
    )
    async def test_does_what_the_mode_says(
        self, pattern: str, values: dict[str, object], outputs: tuple[object, ...]
    ) -> None:
        found = await run(pattern, **values)
        assert (found["matches"], found["text"], found["found"]) == outputs

    @pytest.mark.parametrize(
        ("replacement", "text"),
        [
            (r"[\1|\g<2>]", "Åsa <[asa|x].se>, Bo <[bo|y].org>"),
            ("Ö\\n\\\\", "Åsa <Ö\n\\.se>, Bo <Ö\n\\.org>"),
            (r"\d", r"Åsa <\d.se>, Bo <\d.org>"),
        ],
    )
    async def test_replaces_with_groups_and_letters(self, replacement: str, text: str) -> None:
        assert (await run(r"(\w+)@(\w+)", mode="replace", replacement=replacement))["text"] == text

    @pytest.mark.parametrize(
        ("pattern", "words"),
        [("(?=a)", "invalid perl operator"), ("(", "missing"), (r"(a)\1", "invalid escape"), ("[z-a]", "range")],
    )
    async def test_says_why_a_pattern_does_not_run(self, pattern: str, words: str) -> None:
        with pytest.raises(ComponentError, match=words) as caught:
            await run(pattern)
        assert "lookaround" in caught.value.remedy

    @pytest.mark.parametrize("replacement", [r"\3", r"\g<nobody>", r"\g<9>"])
    async def test_names_a_group_that_is_not_there(self, replacement: str) -> None:
        with pytest.raises(ComponentError, match="which the pattern does not have"):
            await run(r"(\w)", mode="replace", replacement=replacement)

    async def test_is_linear_where_others_explode(self) -> None:
        began = time.process_time()
        found = await StepHarness().run(Regex, {"text": "a" * 50_000 + "!", "pattern": "^(a+)+$", "mode": "test"})
        assert found["found"] is False
        assert time.process_time() - began < 5

    async def test_bounds_what_it_gives(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(expressions, "MOST_MATCHES", 3)
        with pytest.raises(ComponentError, match="more than 3 matches"):
            await run(".")
        monkeypatch.setattr(expressions, "LONGEST_TEXT", 30)
        with pytest.raises(ComponentError, match="longer than 60"):
            await run("[ÅB]", mode="replace", replacement="x" * 80)
        monkeypatch.setattr(matching, "LONGEST_TEXT", 5)
        with pytest.raises(ComponentError, match="at most 5"):
            await run(".")

    async def test_takes_any_text(self) -> None:
        found = await StepHarness().run(Regex, {"text": "a\ud800b\x00", "pattern": "b.", "mode": "find"})
        assert found["matches"] == ["b\ufffd"]
