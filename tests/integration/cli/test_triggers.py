"""`headgate triggers`, as a terminal calls it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"


@pytest.fixture(autouse=True)
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A published flow named Talk."""
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.flow").write_text(FLOW)
    answered(capsys, "import", "talk.flow")
    answered(capsys, "flows", "publish", "Talk")


class TestTriggers:
    def test_are_added_listed_fired_paused_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(
            capsys, "triggers", "add", "Talk", "Morning", "--cron", "0 7 * * MON-FRI", "--zone", "Europe/Stockholm"
        )
        assert made["sentence"] == "At 07:00 on weekdays (Europe/Stockholm)"
        assert [item["id"] for item in answered(capsys, "triggers", "list", "--flow", "Talk")] == [made["id"]]
        assert answered(capsys, "triggers", "list", "--state", "failing") == []
        assert len(answered(capsys, "triggers", "next", made["id"], "--count", "3")) == 3
        fired = answered(capsys, "triggers", "fire", made["id"])
        assert fired["occurrence"]["status"] == "started"
        (row,) = answered(capsys, "triggers", "occurrences", made["id"])
        assert row["run_id"] == fired["occurrence"]["run_id"]
        assert answered(capsys, "triggers", "pause", made["id"], "--reason", "tests")["paused_reason"] == "tests"
        assert answered(capsys, "triggers", "resume", made["id"])["enabled"] is True
        preview = answered(
            capsys, "triggers", "backfill", made["id"], "2026-01-05T00:00:00", "2026-01-09T23:00:00", "--dry-run"
        )
        assert preview["count"] == 5
        span = ("2026-01-05T00:00:00", "2026-01-09T23:00:00")
        assert run(["triggers", "backfill", made["id"], *span, "--dry-run", "--parallel", "2"]) == 0
        assert "completed runs" in capsys.readouterr().out
        begun = answered(capsys, "triggers", "backfill", made["id"], *span, "--parallel", "2")
        cancelled = answered(capsys, "triggers", "cancel-backfill", made["id"], begun["id"])
        assert cancelled["cancelled"] == 5
        assert run(["triggers", "remove", made["id"]]) == 0

    def test_of_business_days_read_a_calendar(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        day = f"{datetime.now(UTC) + timedelta(days=40):%Y%m%d}"
        event = ["BEGIN:VEVENT", "UID:1@example.org", "SUMMARY:Holiday", f"DTSTART;VALUE=DATE:{day}", "END:VEVENT"]
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *event, "END:VCALENDAR", ""]
        (tmp_path / "days.ics").write_text("\r\n".join(lines))
        options = ("--cron", "0 7 * * *", "--days", "business", "--holidays", "days.ics")
        made = answered(capsys, "triggers", "add", "Talk", "Working days", *options)
        assert made["sentence"] == "At 07:00 every day (UTC), on business days only, 1 holiday"
        assert [day_.replace("-", "") for day_ in made["config"]["holidays"]] == [day]

    def test_of_a_webhook_show_address_and_secret_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["triggers", "add", "Talk", "Calls", "--webhook", "github"]) == 0
        shown = capsys.readouterr().out
        assert "Address: /hooks/" in shown
        assert "Secret, shown once: " in shown
        (listed,) = answered(capsys, "triggers", "list")
        assert "secret" not in listed
        assert answered(capsys, "triggers", "test", listed["id"])["waiting"] is True

    def test_of_a_webhook_that_sends_an_event(self, capsys: pytest.CaptureFixture[str]) -> None:
        sends = ["--sends", "paid", "--correlation", "body.id"]
        made = answered(capsys, "triggers", "add", "Talk", "Paid", "--webhook", "standard", *sends)
        assert made["sentence"].endswith("; sends the event paid")
        assert made["config"]["event"]["correlation_from"] == "body.id"
        assert run(["triggers", "add", "Talk", "Wrong", *sends]) == 3
        assert "--sends is of a webhook" in capsys.readouterr().err

    def test_of_a_webhook_that_answers_with_the_result(self, capsys: pytest.CaptureFixture[str]) -> None:
        answer = ["--answer", "result", "--response", '{"status": 201, "headers": {"ETag": "data.etag"}}']
        made = answered(capsys, "triggers", "add", "Talk", "Asked", "--webhook", "key", *answer)
        assert made["sentence"].endswith("; answers with the result")
        assert (made["config"]["response"]["status"], made["config"]["answer"]) == (201, "result")
        assert run(["triggers", "add", "Talk", "Wrong", *answer]) == 3
        assert "are of a webhook" in capsys.readouterr().err

    def test_that_poll_are_added_and_dry_run(self, capsys: pytest.CaptureFixture[str]) -> None:
        poll = '{"kind": "folder", "folder": "in", "pattern": "*.txt"}'
        made = answered(capsys, "triggers", "add", "Talk", "Files", "--poll", poll)
        assert made["sentence"] == "For each new or changed file *.txt in the folder in, looked at every 5 minutes"
        assert answered(capsys, "triggers", "dry-run", made["id"])["waits_for"] == "in"
        assert run(["triggers", "dry-run", made["id"]]) == 0
        assert "Waiting for the folder in, which does not exist yet." in capsys.readouterr().out
        everything = answered(capsys, "triggers", "add", "Talk", "All files", "--poll", '{"kind": "folder"}')
        assert answered(capsys, "triggers", "dry-run", everything["id"])["items"] == []
        assert run(["triggers", "add", "Talk", "Wrong", "--poll", '{"kind": "fax"}']) == 3
        assert "feed, folder" in capsys.readouterr().err

    def test_are_in_the_text_of_their_flow(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        answered(capsys, "triggers", "add", "Talk", "Every morning", "--cron", "0 7 * * *", "--overlap", "queue_all")
        text = answered(capsys, "export", "Talk")["content"]
        assert '"Every morning": schedule' in text
        (tmp_path / "again.txt").write_text(text.replace("name: Talk", "name: Again"))
        assert run(["import", "again.txt"]) in {0, 9}
        capsys.readouterr()
        (row,) = answered(capsys, "triggers", "list", "--flow", "Again")
        assert (row["name"], row["enabled"], row["policies"]["overlap"]) == ("Every morning", False, "queue_all")
        (tmp_path / "wrong.txt").write_text(text.replace("cron:", "corn:"))
        assert run(["validate", "wrong.txt"]) == 3
        assert "unknown name 'corn'; did you mean 'cron'?" in capsys.readouterr().out.replace("\n", " ")

    def test_get_another_owner(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "triggers", "add", "Talk", "Owned")
        changed = answered(capsys, "triggers", "set-owner", made["id"], made["owner_user_id"])
        assert changed["owner_user_id"] == made["owner_user_id"]
        assert run(["triggers", "set-owner", made["id"], "nobody@example.org"]) == 4

    def test_that_do_not_fit_the_form_say_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        poll = '{"kind": "feed", "url": "https://example.org/feed", "form_from": {"who": "author"}}'
        assert run(["triggers", "add", "Talk", "News", "--poll", poll]) == 0
        assert "News: The form of the flow has no field 'who'." in capsys.readouterr().out
        assert run(["triggers", "list", "--flow", "Talk"]) == 0
        assert "News: The form of the flow has no field 'who'." in capsys.readouterr().out
        published = answered(capsys, "flows", "publish", "Talk")
        assert published["notes"][0].startswith("Trigger 'News': The form of the flow has no field 'who'.")

    def test_that_are_wrong_are_explained(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["triggers", "add", "Talk", "Wrong", "--cron", "0 7 32W * *"]) == 3
        assert "15W the weekday nearest" in capsys.readouterr().err

    def test_that_are_forms_have_links(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "triggers", "add", "Talk", "Ask", "--form", '{"access": "links"}')
        assert (made["sentence"], made["path"]) == ("When its form is submitted, by one-time links", None)
        first, second = answered(capsys, "triggers", "links", "add", made["id"], "--count", "2", "--label", "Ada")
        assert first["path"].startswith("/forms/")
        assert answered(capsys, "triggers", "links", "revoke", made["id"], second["id"])["state"] == "revoked"
        rows = answered(capsys, "triggers", "links", "list", made["id"])
        assert [(row["label"], row["state"]) for row in rows] == [("Ada", "revoked"), ("Ada", "open")]
        assert run(["triggers", "add", "Talk", "Wrong", "--form", "[]"]) == 3
