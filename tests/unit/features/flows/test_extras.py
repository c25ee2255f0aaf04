"""Components whose packages are not installed."""

import pytest
from tests.unit.components.test_builtins import TEMPLATES, Builtins

from headgate.features.flows.readiness.check import check
from headgate.foundation import extras
from headgate.graph.issues import IssueCode
from headgate.graph.spec import read_spec

FLOW = "name: F\nnodes:\n  sales: ParseJSON\n    text: '[]'\n  chart: Chart\nedges:\n  sales.table -> chart.table\n"


class TestExtras:
    def test_are_named_with_the_command_that_installs_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        flow = read_spec(FLOW, Builtins())
        assert check(flow, Builtins()).errors == ()
        monkeypatch.setitem(extras.EXTRAS, "charts", ("not_there",))
        (issue,) = check(flow, Builtins()).errors
        assert (issue.code, issue.node) == (IssueCode.EXTRA_NOT_INSTALLED, "chart")
        assert issue.remedy == "Install them with: pip install 'headgate[charts]'"

    def test_are_known(self) -> None:
        assert {template.extra for template in TEMPLATES} - {""} <= extras.EXTRAS.keys()
