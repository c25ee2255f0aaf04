"""How what models write is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.codev.workflow import reading
from headgate.agents.codev.workflow.reading import (
    Clarity,
    read_clarity,
    read_credentials,
    read_plan,
    read_verdict,
)
from tests.support.properties import cases

WORDS = st.sampled_from(
    [
        *("SCORE:", "score = 5", "1.", "2) What?", "CREDENTIALS_STATUS:", "MISSING", "OK", "MISSING_TYPES:", "a, b"),
        *("```tests", "```", "~~~", "[", "]", "{", "}", '"name"', ":", "DONE", "ITERATE", "Category:", "LOGIC"),
        *("Reason:", "Fix:", "\n", " ", "\t", "*", "**", "`", ">", "#", "\x00", "é", "🙃", "-", "\r\n", "\u2028"),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=60).map("".join), st.lists(WORDS).map(" ".join))


class TestEveryReader:
    @given(TEXTS)
    @cases(200)
    def test_never_raises(self, text: str) -> None:
        clarity = read_clarity(text)
        assert clarity.score is None or 0 <= clarity.score <= 10
        assert len(clarity.questions) <= reading.MOST_QUESTIONS
        kept, types = read_credentials(text)
        assert len(kept) <= len(text)
        assert len(types) <= reading.MOST_TYPES
        planned = read_plan(text)
        assert bool(planned.cases) != bool(planned.fault)
        judged = read_verdict(text)
        assert judged is None or judged.category in {None, "CREDENTIAL", "STRUCTURE", "LOGIC", "INCOMPLETE"}

    @pytest.mark.parametrize(
        "piece", [" ", "\n", "#", "*", "`", "1. ", "SCORE", "```tests\n[", "ITERATE\n", "> ", "[[", "\t"]
    )
    def test_takes_no_longer_than_the_text_is_long(self, piece: str) -> None:
        text = piece * (400_000 // len(piece))
        for reader in (read_clarity, read_credentials, read_plan, read_verdict):
            reader(text)


class TestReadClarity:
    @pytest.mark.parametrize(
        ("text", "score"),
        [
            ("SCORE: 6", 6),
            ("**Score:** 7/10", 7),
            ("## score = 3", 3),
            ("Here:\n- SCORE: 10\n", 10),
            ("**Ambiguity score (0-10):** 7", 7),
            ("SCORE: 99", 10),
            ("SCORE: -4", 0),
            ("The score is 6", None),
            ("", None),
        ],
    )
    def test_finds_the_score(self, text: str, score: int | None) -> None:
        assert read_clarity(text).score == score

    def test_takes_the_first_questions_without_their_marks(self) -> None:
        text = "SCORE: 6\n1. **Which model?**\n2) Memory?\n 3. New?\n4. More?"
        assert read_clarity(text) == Clarity(6, ["Which model?", "Memory?", "New?"])


class TestReadCredentials:
    def test_takes_the_block_out_and_gives_the_types(self) -> None:
        text = "A summary.\n\n**CREDENTIALS_STATUS: MISSING**\nMISSING_TYPES: openAIApi, `anthropicApi`, openAIApi\n"
        assert read_credentials(text) == ("A summary.", ["openAIApi", "anthropicApi"])

    @pytest.mark.parametrize(
        "types",
        [
            "openAIApi (for the chat model), anthropicApi",
            "openAIApi and anthropicApi",
            "the key openAIApi, a credential of type `anthropicApi`",
            "\n- openAIApi\n- `anthropicApi` (for the judge)",
            "openAIApi; anthropicApi: not there",
            "openAIApi / anthropicApi",
        ],
    )
    def test_takes_types_and_no_words_around_them(self, types: str) -> None:
        text = f"A summary.\n\n```credentials\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: {types}\n```"
        assert read_credentials(text) == ("A summary.", ["openAIApi", "anthropicApi"])

    def test_leaves_other_blocks_of_the_summary(self) -> None:
        text = "```\na\n```\n\n```\nb\n```"
        assert read_credentials(f"{text}\nCREDENTIALS_STATUS: OK") == (text, [])

    @pytest.mark.parametrize("types", ["", "MISSING_TYPES:", "MISSING_TYPES: none", "MISSING_TYPES: N/A, -"])
    def test_finds_none_where_there_are_none(self, types: str) -> None:
        text = f"A summary.\nCREDENTIALS_STATUS: OK\n{types}"
        assert read_credentials(text) == ("A summary.", [])

    def test_leaves_a_text_without_the_block_as_it_is(self) -> None:
        assert read_credentials("CREDENTIALS are fine") == ("CREDENTIALS are fine", [])


class TestReadPlan:
    CASE = '[{"name": "a", "text": "Hi", "expect": {"contains": ["hello"]}}]'

    @pytest.mark.parametrize(
        "text",
        [
            "# P\n```tests\n{}\n```",
            "# P\n~~~ tests\n{}\n~~~\n",
            "# P\n````tests\n{}\n````",
            "# P\n```TESTS json\n{}\n```",
            "# P\n```tests\n{}",
        ],
    )
    def test_finds_the_cases_however_they_are_fenced(self, text: str) -> None:
        planned = read_plan(text.replace("{}", self.CASE))
        assert planned.plan == "# P"
        assert [case.name for case in planned.cases] == ["a"]
        assert planned.fault == ""

    def test_keeps_what_comes_after_the_block(self) -> None:
        assert read_plan(f"# P\n\n```tests\n{self.CASE}\n```\nAnd last.").plan == "# P\nAnd last."

    def test_takes_an_object_with_a_list_of_tests(self) -> None:
        assert len(read_plan(f'```tests\n{{"tests": {self.CASE}}}\n```').cases) == 1

    @pytest.mark.parametrize(
        ("block", "fault"),
        [
            (None, "no block that begins with ```tests"),
            ("{", "not JSON"),
            ("[]", "at least one"),
            ('"x"', "not a JSON list"),
            ('[{"text": "Hi"}]', "0.name: Field required"),
            ('[{"name": "a", "extra": 1}]', "0.extra"),
            ('[{"name": "a", "expect": {"matches": "("}}]', "0.expect.matches"),
            ('[{"name": "a"}, {"name": "a"}]', "have the name 'a'"),
            (json.dumps([{"name": str(n)} for n in range(51)]), "the limit is 50"),
            ("[" * 100_000, "not JSON"),
        ],
    )
    def test_says_what_is_wrong_with_the_tests(self, block: str | None, fault: str) -> None:
        planned = read_plan("# P" if block is None else f"# P\n```tests\n{block}\n```")
        assert planned.cases == []
        assert fault in planned.fault
        assert planned.plan == "# P"


class TestReadVerdict:
    @pytest.mark.parametrize("text", ["DONE", "done.", "**DONE**", "Verdict: DONE", "# DONE\nReason: fine"])
    def test_reads_done(self, text: str) -> None:
        judged = read_verdict(text)
        assert judged is not None
        assert judged.done

    def test_reads_what_is_to_be_done(self) -> None:
        judged = read_verdict("**ITERATE**\n- **Category:** structure (nodes)\n- Reason: `x` is gone\nFix: add it")
        assert judged is not None
        assert (judged.done, judged.category, judged.reason, judged.fix) == (False, "STRUCTURE", "x` is gone", "add it")

    @pytest.mark.parametrize("text", ["", "It is done", "DONE\nITERATE", "ITERATED", "I say ITERATE here", "D O N E"])
    def test_reads_nothing_into_anything_else(self, text: str) -> None:
        assert read_verdict(text) is None

    def test_leaves_a_category_of_its_own_open(self) -> None:
        judged = read_verdict("ITERATE\nCategory: LOGICAL\nReason: r")
        assert judged is not None
        assert judged.category is None

    @pytest.mark.parametrize(
        ("said", "category"),
        [("STRUCTURE.", "STRUCTURE"), ("[logic]", "LOGIC"), ("CREDENTIAL | STRUCTURE | LOGIC | INCOMPLETE", None)],
    )
    def test_takes_the_one_category_that_is_named(self, said: str, category: str | None) -> None:
        judged = read_verdict(f"ITERATE\nCategory: {said}")
        assert judged is not None
        assert judged.category == category
