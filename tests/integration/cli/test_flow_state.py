"""`headgate flows state`, as a terminal calls it."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run

FLOW = (
    "name: Count\nnodes:\n  count: WriteState\n    name: tickets\n    operation: increment\n"
    "  pick: SelectData\n    expression: '@'\n  said: ChatOutput\n"
    "edges:\n  count.value -> pick.data\n  pick.text -> said.input\n"
)


class TestState:
    def test_of_a_draft_is_named_where_the_published_one_is_empty(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
        flow = tmp_path / "count.flow"
        flow.write_text(FLOW)
        assert run(["import", str(flow)]) == run(["run", "Count"]) == 0
        capsys.readouterr()
        assert run(["flows", "state", "list", "Count"]) == 0
        assert "--draft" in capsys.readouterr().out
        assert run(["flows", "state", "list", "Count", "--draft"]) == 0
        assert "tickets" in capsys.readouterr().out
