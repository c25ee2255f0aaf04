import pytest

from headgate.entrypoints.cli import doctor
from headgate.entrypoints.cli.findings import Finding, programs_finding
from headgate.foundation.guarded_http.errors import BadUrl
from headgate.foundation.settings import McpSettings, SandboxSettings, Settings
from headgate.sandbox.guest import kernel, namespaces
from headgate.sandbox.report import Layer, SandboxReport

WHOLE = SandboxReport((Layer("landlock", present=True, detail="version 7"),))
LACKING = SandboxReport(
    (
        Layer("landlock", present=False, detail="not there", remedy="Use Linux 5.13 or later"),
        Layer("seccomp", present=True, detail="there"),
    )
)


def found(monkeypatch: pytest.MonkeyPatch, report: SandboxReport, **sandbox: object) -> dict[str, Finding]:
    """What doctor says of the sandbox on such a system."""
    monkeypatch.setattr(doctor, "probe", lambda: report)
    settings = Settings(sandbox=SandboxSettings.model_validate(sandbox))
    return {one.what: one for check in (doctor._sandbox, doctor._sandbox_network) for one in check(settings)}


class TestSandbox:
    def test_is_fit_where_no_layer_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert found(monkeypatch, WHOLE)["sandbox"].good

    def test_names_the_missing_layer_and_that_own_code_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        finding = found(monkeypatch, LACKING)["sandbox"]
        assert (finding.good, finding.needed) == (False, False)
        assert finding.detail == "missing: landlock (not there). Custom code is refused."
        assert finding.remedy == "Use Linux 5.13 or later."

    def test_says_where_the_operator_runs_it_all_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        finding = found(monkeypatch, LACKING, insecure=True)["sandbox"]
        assert "Custom code runs without it: HEADGATE_SANDBOX__INSECURE is set." in finding.detail


class TestPrograms:
    """Programs as MCP servers."""

    def findings(self, *, allowed: bool = True, insecure: bool = False) -> list[tuple[bool, str]]:
        settings = Settings(mcp=McpSettings(allow_stdio=allowed), sandbox=SandboxSettings(insecure=insecure))
        return [(finding.good, finding.detail) for finding in programs_finding(settings)]

    def test_are_checked_where_they_are_allowed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.findings(allowed=False) == []
        monkeypatch.setattr(namespaces, "are_possible", lambda: True)
        assert self.findings() == [(True, "run isolated")]
        monkeypatch.setattr(namespaces, "are_possible", lambda: False)
        assert self.findings() == [(True, "run isolated, without namespaces: those with hosts are refused")]

    def test_that_cannot_be_isolated_are_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernel, "landlock_abi", lambda: 0)
        [(good, detail)] = self.findings()
        assert (good, "Linux with Landlock and seccomp" in detail) == (False, True)
        assert self.findings(insecure=True) == [(False, "run as the server does: a wall is missing")]


class TestSandboxNetwork:
    def test_is_closed_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        finding = found(monkeypatch, WHOLE)["sandbox network"]
        assert (finding.good, "HEADGATE_SANDBOX__HOSTS is empty" in finding.detail) == (True, True)

    def test_lists_what_is_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        finding = found(monkeypatch, WHOLE, hosts=["API.example.org", "*.example.net:8443"])["sandbox network"]
        assert finding.detail == "custom components may connect to api.example.org, *.example.net:8443"

    def test_warns_where_nothing_enforces_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        finding = found(monkeypatch, LACKING, insecure=True, hosts=["api.example.org"])["sandbox network"]
        assert (finding.good, "not enforced" in finding.detail) == (False, True)

    def test_refuses_what_is_no_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ValueError, match="pattern"):
            found(monkeypatch, WHOLE, hosts=["https://api.example.org/"])
        with pytest.raises(BadUrl):
            found(monkeypatch, WHOLE, hosts=["a.example.org:99999"])
