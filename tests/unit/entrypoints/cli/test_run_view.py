"""The steps of a run in a terminal."""

from rich.console import Console

from headgate.entrypoints.cli.run_view import RunView


class TestRunView:
    def test_shows_ended_steps_and_no_live_text_with_or_without_a_gap(self) -> None:
        target = Console(record=True, width=100)
        with RunView(target) as view:
            view.show("step_started", {"step_id": "a", "label": "Answer"})
            view.show("token", {"step_id": "a", "attempt": 1, "number": 1, "text": "half a sen"})
            view.show("gap", {"step_id": "a", "attempt": 1, "next": 9})
            view.show("token", {"step_id": "a", "attempt": 1, "number": 9, "text": "tence"})
            view.show("step_completed", {"step_id": "a", "label": "Answer", "type": "AIStep", "ms": 3})
        shown = target.export_text()
        assert "Answer" in shown
        assert "half" not in shown
        assert "tence" not in shown
