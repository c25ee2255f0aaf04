"""Each run that ends is one line in the log, without its content; on both databases."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.logs import captured_logs
from tests.support.team import FLOW, Team, team

FAILING = {
    "name": "Failing",
    "nodes": [
        {"id": "heard", "type": "ChatInput", "policy": {"output_type": "json"}},
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
}
SECRET = "sk-live-0123456789abcdef0123456789"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as client:
        yield client


class TestRunEnd:
    async def test_is_one_line_with_figures_and_no_content(self, us: Team) -> None:
        with captured_logs() as logs:
            for given, status in (({"spec": FLOW}, "completed"), ({"definition": FAILING}, "failed")):
                flow_id = str((await us.make("editor", "/flows", **given))["id"])
                run = await us.make("editor", f"/flows/{flow_id}/runs", text=f"my key is {SECRET}", wait=True)
                assert run["status"] == status
                (line,) = [one for one in logs if one["event"] == "run ended" and one["run_id"] == run["id"]]
                error_code = run["error"] and run["error"]["code"]
                assert line.pop("duration_ms") >= 0
                line.pop("module")
                assert line == {
                    "event": "run ended",
                    "log_level": "info",
                    "run_id": run["id"],
                    "flow_id": flow_id,
                    "version": 1,
                    "status": status,
                    "steps": 2,
                    "tokens": 0,
                    "error_code": error_code,
                }
                assert SECRET not in str(line)
