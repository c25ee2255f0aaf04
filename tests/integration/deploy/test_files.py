"""The files of `deploy/` are valid for the tools that read them, hardened, and true to the program that they start."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from compose_spec import PyCompose

from headgate import __version__
from headgate.entrypoints.cli.app import COMMANDS
from headgate.entrypoints.cli.exposure import refuse_exposure
from headgate.foundation.settings import Settings
from tests.support.deployment import (
    CHART,
    FOLDER,
    TOP,
    UNITS,
    Missing,
    Start,
    compose,
    image,
    image_environment,
    instruction,
    pod_start,
    pods,
    rendered,
    service_start,
    unit,
    unit_start,
    user,
)

PASSWORDS = {"POSTGRES_PASSWORD": "aPassword", "REDIS_PASSWORD": "another"}
TEAM: dict[str, Any] = {
    "team": {"enabled": True},
    "existingSecret": "headgate",
    "settings": {"HEADGATE_LOG__LEVEL": "debug"},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}},
}
MODES: dict[str, dict[str, Any]] = {"single": {}, "team": TEAM}
KUBERNETES = ("1.29", "1.34", "1.37")
EXPOSURE = 2.1
"""At most, as `systemd-analyze security` measures it; 10 is a service without any limits."""


def of_headgate(services: dict[str, Any]) -> dict[str, Any]:
    """Services of Headgate's own image."""
    return {name: one for name, one in services.items() if one["image"].startswith("headgate:")}


def starts() -> dict[str, Start]:
    """Every way in which the files start Headgate."""
    found = {"compose": service_start(compose("compose.yaml")["services"]["headgate"])}
    team = compose("compose.team.yaml", **PASSWORDS)["services"]
    found |= {f"compose-team-{name}": service_start(one) for name, one in of_headgate(team).items()}
    for mode, values in MODES.items():
        found |= {f"helm-{mode}-{name}": pod_start(pod) for name, pod in pods(list(rendered(values))).items()}
    return found | {path.stem: unit_start(path) for path in UNITS}


class TestStarts:
    def test_are_all_there(self) -> None:
        assert len(starts()) == 1 + 3 + 4 + 3

    @pytest.mark.parametrize("name", sorted(starts()))
    def test_name_commands_and_settings_that_exist(self, name: str, tmp_path: Path) -> None:
        start = starts()[name]
        assert start.command[0] in COMMANDS
        known = set(re.findall(r"`(HEADGATE_\w+)`", (TOP / "docs/reference/settings.md").read_text()))
        set_here = {one for one in start.environment if one.startswith("HEADGATE_")}
        assert set_here
        assert set_here - known == set()

    @pytest.mark.parametrize("name", sorted(name for name, start in starts().items() if start.command[0] == "serve"))
    def test_of_servers_are_accepted_with_their_address(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable, value in starts()[name].environment.items():
            monkeypatch.setenv(variable, value)
        settings = Settings(_env_file=None)
        assert not settings.server.auto_login
        refuse_exposure(settings.server)
        assert str(settings.data_dir) in {"/data", "/var/lib/headgate"}


class TestImage:
    def test_has_no_findings_of_hadolint(self) -> None:
        command: list[str | Path] = [Path(sys.executable).with_name("hadolint"), "--no-color", FOLDER / "Dockerfile"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (0, "")

    def test_runs_as_a_user_without_rights_and_says_whether_it_is_well(self) -> None:
        assert min(user()) >= 10_000
        assert "/health/ready" in instruction("HEALTHCHECK")
        assert instruction("ENTRYPOINT") == '["headgate"]'
        assert ("VOLUME", "/data") in image()
        assert image_environment()["HEADGATE_DATA_DIR"] == "/data"

    def test_installs_extras_that_exist(self) -> None:
        extras = re.findall(r'ARG EXTRAS="([^"]+)"', (FOLDER / "Dockerfile").read_text())[0].split()
        project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
        assert set(extras) <= set(project["optional-dependencies"])

    def test_copies_all_that_the_build_needs_and_nothing_private(self) -> None:
        lines = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
        kept = {line[1:] for line in lines if line.startswith("!")}
        assert lines[0] == "*"
        assert {"pyproject.toml", "uv.lock", "README.md", "LICENSE", "src", "scripts", "web"} <= kept
        assert {".git", ".env", "tests", ".venv"} & kept == set()
        assert "web/node_modules" in lines


class TestCompose:
    @pytest.mark.parametrize("name", ["compose.yaml", "compose.team.yaml"])
    def test_is_valid(self, name: str) -> None:
        merged = compose(name, **PASSWORDS)
        PyCompose.from_yaml(yaml.safe_dump(merged))
        assert merged["services"]

    def test_that_is_wrong_would_be_found(self) -> None:
        text = (FOLDER / "compose.yaml").read_text(encoding="utf-8").replace("read_only:", "readonly:")
        with pytest.raises(Exception, match="readonly"):
            PyCompose.from_yaml(text)

    def test_of_a_team_needs_both_passwords(self) -> None:
        for name in PASSWORDS:
            with pytest.raises(Missing, match=name):
                compose("compose.team.yaml", **{one: "x" for one in PASSWORDS if one != name})

    @pytest.mark.parametrize("name", ["compose.yaml", "compose.team.yaml"])
    def test_confines_headgate(self, name: str) -> None:
        own = of_headgate(compose(name, **PASSWORDS)["services"])
        assert own
        for service in own.values():
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert "data:/data" in service["volumes"]
            assert service["tmpfs"][0].startswith("/tmp:")
            assert service["image"] == f"headgate:{__version__}"
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))

    def test_of_a_team_loses_no_messages_and_publishes_no_database(self) -> None:
        services = compose("compose.team.yaml", **PASSWORDS)["services"]
        redis = services["redis"]["command"]
        assert redis[redis.index("--maxmemory-policy") + 1] == "noeviction"
        assert redis[redis.index("--requirepass") + 1] == PASSWORDS["REDIS_PASSWORD"]
        assert not [name for name in ("redis", "postgres", "worker", "scheduler") if "ports" in services[name]]


class TestChart:
    def test_passes_helm_s_lint(self) -> None:
        import helm_python

        found = helm_python.lint(str(CHART))
        assert (found["messages"], found["errors"]) == ([], [])

    @pytest.mark.parametrize("version", KUBERNETES)
    @pytest.mark.parametrize("mode", MODES)
    def test_makes_valid_resources(self, mode: str, version: str) -> None:
        resources = list(rendered(MODES[mode]))
        for resource in resources:
            kubernetes_validate.validate(resource, version, strict=True)
        kinds = [one["kind"] for one in resources]
        assert kinds.count("Deployment") == {"single": 1, "team": 3}[mode]
        assert {"Service", "PersistentVolumeClaim"} <= set(kinds)
        assert ("Ingress" in kinds) == (mode == "team")

    @pytest.mark.parametrize("mode", MODES)
    def test_confines_every_container(self, mode: str) -> None:
        for pod in pods(list(rendered(MODES[mode]))).values():
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsGroup"]) == user()
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is False
            (container,) = pod["containers"]
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {one["mountPath"] for one in container["volumeMounts"]} == {"/data", "/tmp"}

    def test_shares_data_among_pods_only_where_there_are_several(self) -> None:
        for mode, access in (("single", "ReadWriteOnce"), ("team", "ReadWriteMany")):
            (claim,) = (one for one in rendered(MODES[mode]) if one["kind"] == "PersistentVolumeClaim")
            assert claim["spec"]["accessModes"] == [access]

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"team": {"enabled": True}}, "existingSecret"),
            ({"publicUrl": "studio"}, "publicUrl"),
            ({"settings": {"PATH": "x"}}, "PATH"),
            ({"replicas": 3}, "replicas"),
        ],
    )
    def test_refuses_values_that_cannot_work(self, values: dict[str, Any], words: str) -> None:
        import helm_python

        with pytest.raises(helm_python.HelmError, match=words):
            list(rendered(values))

    def test_has_the_version_of_the_program(self) -> None:
        text = (CHART / "Chart.yaml").read_text(encoding="utf-8")
        assert f"\nversion: {__version__}\n" in text
        assert f'\nappVersion: "{__version__}"\n' in text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is part of systemd")
class TestUnits:
    @pytest.fixture
    def installed(self, tmp_path: Path) -> list[str]:
        """The units, with a program and a user that this machine has."""
        paths = []
        for path in UNITS:
            text = path.read_text(encoding="utf-8").replace("/opt/headgate/bin/headgate", shutil.which("true") or "")
            copy = tmp_path / path.name
            copy.write_text(re.sub(r"^(User|Group)=.*$", r"\1=root", text, flags=re.MULTILINE))
            paths.append(str(copy))
        return paths

    def test_are_valid(self, installed: list[str]) -> None:
        command = ["systemd-analyze", "verify", "--man=no", *installed]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        ours = [line for line in result.stderr.splitlines() if "headgate" in line]
        assert (result.returncode, ours) == (0, [])

    def test_are_confined(self, installed: list[str]) -> None:
        for path in installed:
            unprivileged = Path(path).read_text().replace("=root", "=headgate")
            Path(path).write_text(unprivileged)
            command = ["systemd-analyze", "security", "--offline=true", "--no-pager", path]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            level = re.search(r"exposure level for \S+: ([\d.]+)", said)
            assert level is not None, said
            assert float(level[1]) <= EXPOSURE

    def test_allow_the_system_calls_of_the_sandbox(self) -> None:
        for path in UNITS:
            allowed = unit(path)["SystemCallFilter"][-1].split()
            assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"} <= set(allowed)
            assert unit(path)["NoNewPrivileges"] == ["true"]
