"""What a step waited for and started, as an audit report prints it."""

from typing import Any

import pytest

from headgate.features.runs.report.history import history
from headgate.features.runs.report.words import ENGLISH, WORDS

RUN = {"run_id": "run-1", "flow_id": "flow-1", "flow_version": 2}
WHEN = "2026-01-02T03:04:05.678900+00:00"


def printed(**entry: Any) -> str:
    return "\n\n".join(history(ENGLISH, entry)).replace("\\", "")


class TestHistory:
    def test_says_how_many_runs_are_not_printed(self) -> None:
        text = printed(started_runs=[RUN | {"iteration": number} for number in range(103)])
        assert text.count("run-1") == 100
        assert "3 more; the evidence names all." in text
        assert "more;" not in printed(started_runs=[RUN | {"iteration": 0}])

    def test_prints_the_limits_of_models_and_connections_once(self) -> None:
        details = [{"limit": 2, "model": "openai/gpt-5"}, {"limit": 1, "connection": "crm | a"}, {"limit": 3}, None]
        text = printed(log=[{"at": 1, "message": "x", "details": detail} for detail in (*details, details[0])])
        assert text.count("Model openai/gpt-5") == 1
        assert "| Connection crm | a | 1 |" in text
        assert printed(log=[{"at": 1, "message": "x"}, {"at": 1, "message": "x", "details": {"limit": 3}}]) == ""

    def test_prints_attempts_only_where_one_failed(self) -> None:
        attempt = {"attempt_no": 1, "status": "completed", "error": None, "started_at": WHEN, "finished_at": WHEN}
        assert printed(attempts=[attempt]) == ""
        failed = attempt | {"status": "failed", "error": {"code": "timeout", "message": "Too | late"}}
        assert "Too | late (timeout)" in printed(attempts=[failed, attempt])

    def test_prints_a_decision_by_link_and_a_withheld_hash(self) -> None:
        decision = {
            "user_name": "Eva", "outside_reviewer": "Otto", "decision": "reject", "decided_at": WHEN,
            "shown_sha256": {"withheld": "private", "commitment": "c"},
            "answers": {"centre": 12, "kinds": ["Food"]},
        }  # fmt: skip
        approval = {"status": "rejected", "needed": 1, "created_at": WHEN, "due_at": None, "decisions": [decision]}
        text = printed(approvals=[approval])
        for expected in (
            "Otto (by link)",
            "reject",
            "2026-01-02 03:04:05 UTC",
            "due never",
            ENGLISH["withheld"],
            "| centre | 12 |",
            "Food",
        ):
            assert expected in text
        assert "Eva" not in text

    def test_prints_an_event_and_its_sender(self) -> None:
        wait = {"name": "paid", "status": "received", "since": WHEN, "due_at": WHEN, "sender": {"name": "shop"}}
        assert "paid: received; waited since 2026-01-02 03:04:05 UTC" in printed(event_waits=[wait])
        assert "from shop" in printed(event_waits=[wait])


@pytest.mark.parametrize("language", WORDS)
def test_texts_exist_in_every_language(language: Any) -> None:
    assert WORDS[language].keys() == ENGLISH.keys()
