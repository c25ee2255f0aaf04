"""Files of questions: CSV and JSON, and what is wrong with them."""

import json

import pytest

from headgate.features.knowledge.evaluation import question_files
from headgate.features.knowledge.evaluation.question_files import QuestionLine, read_questions
from headgate.foundation.errors import Invalid

LEAVE = QuestionLine(question="How much leave?", documents=["a.md", "b.md"], quote="27 days", answer="27, per year")
FILTERS: list[dict[str, object]] = [
    {"key": "year", "at_least": 2024, "at_most": 2026},
    {"key": "team", "in": ["hr", "it"]},
    {"key": "draft", "exists": False},
]


class TestReadQuestions:
    @pytest.mark.parametrize(
        "content",
        [
            '\ufeffquestion,documents,quote,answer\nHow much leave?,a.md;b.md,27 days,"27, per year"\n',
            '"Question";Documents;quote;answer\n"How much leave?";"a.md;b.md";27 days;27, per year\n',
            f"[{LEAVE.model_dump_json()}]",
            f"{LEAVE.model_dump_json()}\n\n",
            f"{LEAVE.model_dump_json()}\r\n",
            'question,documents,quote,answer\rHow much leave?,a.md;b.md,27 days,"27, per year"\r',
        ],
    )
    def test_reads_csv_and_json(self, content: str) -> None:
        assert list(read_questions(content)) == [LEAVE]

    def test_needs_no_quote_and_no_answer(self) -> None:
        (line,) = read_questions("question,documents\nWhere?,a.md\n")
        assert line == QuestionLine(question="Where?", documents=["a.md"])

    @pytest.mark.parametrize(
        "content",
        [
            "question,documents,filters\nWhere?,a.md,year>=2024;year<=2026; team=hr|it;!draft\n",
            json.dumps({"question": "Where?", "documents": ["a.md"], "filters": FILTERS}),
        ],
    )
    def test_reads_filters(self, content: str) -> None:
        (line,) = read_questions(content)
        assert [condition.written for condition in line.filters] == FILTERS
        assert list(read_questions(line.model_dump_json())) == [line]

    def test_reads_line_separators_inside_a_text(self) -> None:
        line = LEAVE.model_copy(update={"answer": "27\u2028per\u0085year"})
        assert list(read_questions(f"{line.model_dump_json()}\n{LEAVE.model_dump_json()}")) == [line, LEAVE]

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            ("", "The first line does not name the columns"),
            ("question,documents\n", "The file has no questions"),
            ("question,documents\nWhere?,\n", "Line 2 is no question: documents"),
            ("question,documents\nWhere?,a.md,more\n", "Line 2 is no question"),
            ("question,documents,secret\nWhere?,a.md,x\n", "The first line does not name the columns"),
            ('{"question": "Where?"}', "Line 1 is no question: documents"),
            ('{"question": "Where?", "documents": ["a"]}\n{', "Line 2 is not JSON"),
            ('[{"question": "\\u0000", "documents": ["a"]}]', "The file is not JSON"),
            ("question,documents\nWhere?,a\0.md\n", "Line 2 is no question: documents"),
            (f"{'q' * 200_000},documents\n", "is not CSV"),
            ("[1]", "Question 1 is no question"),
            ("question,documents,filters\nWhere?,a.md,!a=1\n", "'!a=1' is no condition"),
            (
                '{"question": "Where?", "documents": ["a"], "filters": [{"key": "a"}]}',
                "Line 1 is no question: filters.0",
            ),
            ("[", "The file is not JSON"),
        ],
    )
    def test_names_what_is_wrong(self, content: str, fault: str) -> None:
        with pytest.raises(Invalid, match=fault):
            read_questions(content)

    def test_is_limited(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(question_files, "MOST_QUESTIONS", 1)
        with pytest.raises(Invalid, match="more than 1 questions"):
            read_questions("question,documents\nWhere?,a.md\nWhen?,a.md\n")
