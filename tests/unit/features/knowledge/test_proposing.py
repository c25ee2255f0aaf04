"""Questions that a model makes are used only when the passage has what they claim."""

import json

import pytest

from headgate.features.knowledge.evaluation.proposing import proposal_in_answer
from headgate.features.knowledge.index.lexical import SamplePassage

PASSAGE = SamplePassage("7", "handbook.md", "Handbook > Leave", "Employees have 27 days\nof holiday each year.")
GOOD = {"question": "How much leave is there?", "answer": "27 days", "quote": "27 days of holiday"}


class TestProposalInAnswer:
    def test_is_read_from_the_answer_of_a_model(self) -> None:
        proposal = proposal_in_answer(f"Here it is:\n```json\n{json.dumps(GOOD)}\n```", PASSAGE)
        assert proposal is not None
        assert (proposal.question, proposal.answer, proposal.quote) == (*[GOOD["question"]], "27 days", GOOD["quote"])
        assert (proposal.document.id, proposal.document.name) == ("7", "handbook.md")

    @pytest.mark.parametrize(
        "change",
        [
            {"quote": "28 days of holiday"},
            {"quote": ""},
            {"answer": "31 days"},
            {"answer": ""},
            {"question": ""},
            {"question": "x" * 3_000},
            {"question": "\x00"},
            {"quote": ["27 days"]},
        ],
    )
    def test_is_none_when_the_passage_does_not_have_it(self, change: dict[str, object]) -> None:
        assert proposal_in_answer(json.dumps(GOOD | change), PASSAGE) is None

    @pytest.mark.parametrize("answer", ["", "no", "{", "[]", '{"a": NaN}', "}{", "null"])
    def test_is_none_without_json(self, answer: str) -> None:
        assert proposal_in_answer(answer, PASSAGE) is None
