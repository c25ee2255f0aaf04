"""What a visitor answers in a form is data in a query, never a part of it."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]
FLOW = """name: Orders
nodes:
  rows: ParseJSON
    text: '[{"customer": "O''Brien", "order": 1}, {"customer": "Ek", "order": 2}]'
  own: TableQuery
    sql: SELECT "order" FROM t WHERE customer = '{{flow_input.customer}}'
  out: ChatOutput
edges:
  rows.data -> own.table
  own.data -> out.input
form:
  customer: text
"""


class TestTableQuery:
    @pytest.mark.parametrize(
        ("answer", "order"), [("Ek", 2), ("O'Brien", 1), ("x' OR '1'='1", None), ("' UNION SELECT 1 --", None)]
    )
    def test_gives_the_rows_of_the_answer_alone(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str], answer: str, order: int | None
    ) -> None:
        (data_folder / "orders.flow").write_text(FLOW)
        answered(capsys, "import", "orders.flow")
        result = answered(capsys, "run", "Orders", "--form", f"customer={answer}")
        assert json.loads(result["outputs"]["out"]) == ([] if order is None else [{"order": order}])
