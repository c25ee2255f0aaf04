"""What a dry run says that steps would do."""

import pytest

from headgate.components import BUILTINS
from headgate.features.runs.preview.effects import effect_of
from headgate.graph.plan import compile_plan
from headgate.graph.spec import read_spec
from tests.unit.components.test_builtins import Builtins

NAMES = [
    *("SaveFile", "WriteSpreadsheet", "Chart", "QRCode", "CreateArchive", "CreateCalendar", "MakeDocument"),
    *("SendMail", "ReadMail", "Notify", "SqlQuery", "SqlWrite", "SqlSchema"),
    *("RunFlow", "ForEach", "Loop", "SendEvent", "WriteState"),
]


def effect(type_: str, *lines: str) -> str:
    fields = "".join(f"    {line}\n" for line in lines)
    flow = read_spec(
        f"name: F\nnodes:\n  it: {type_}\n{fields}  out: ChatOutput\n    input: '{{{{it}}}}'\n", Builtins()
    )
    (step,) = [step for step in compile_plan(flow, Builtins()).steps if step.id == "it"]
    return str(effect_of(step))


class TestEffectOf:
    def test_says_what_a_mail_would_be(self) -> None:
        assert effect("SendMail", "server: office", "to: '{{form.email}}'", "subject: Hi", "body: x") == (
            "Sends a mail to {{form.email}}, subject 'Hi', with the connection 'office'."
        )

    def test_says_what_a_database_would_see(self) -> None:
        assert effect("SqlWrite", "database: shop", "table: orders", "mode: upsert", "rows: []") == (
            "Changes a database (upsert, table orders) with the connection 'shop'."
        )
        assert "statements that change data are refused" in effect("SqlQuery", "database: shop", "sql: SELECT 1")

    def test_says_what_runs_of_other_flows_events_and_state_would_be(self) -> None:
        assert effect("RunFlow", "flow: Check") == "Runs the flow 'Check'."
        assert effect("ForEach", "flow: Check", "items: []").startswith(
            "Runs the flow 'Check' for each item, 4 at a time"
        )
        assert "'Check' up to 5 times" in effect("Loop", "flow: Check", "most: 5", "until: done", "value: x")
        assert effect("SendEvent", "event: paid") == "Sends the event 'paid' to steps that wait for it."
        assert effect("WriteState", "name: count", "operation: increment") == (
            "Changes the value 'count' of the state of the flow (increment)."
        )

    def test_says_nothing_of_steps_that_only_compute(self) -> None:
        assert effect("Calculator", "expression: 1+1") == ""

    @pytest.mark.parametrize("name", NAMES)
    def test_knows_components_that_there_are(self, name: str) -> None:
        assert name in {component.__name__ for component in BUILTINS}
