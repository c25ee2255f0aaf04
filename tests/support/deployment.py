"""What the files of `deploy/` say: images, services, units and rendered charts, read with the tools' own parsers."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).parents[2]
FOLDER = TOP / "deploy"
CHART = FOLDER / "helm" / "headgate"
UNITS = sorted((FOLDER / "systemd").glob("*.service"))
_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?:(?P<kind>:[-?])(?P<word>[^}]*))?\}")


class Missing(ValueError):
    """A variable of a compose file that must be set."""


@dataclass(frozen=True)
class Start:
    """How a process is started: its command after `headgate`, and its environment."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def image() -> list[tuple[str, str]]:
    """Instructions of the last stage of the Dockerfile: name and text."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    stage: list[tuple[str, str]] = []
    for line in lines:
        name, _, rest = line.partition(" ")
        stage = [] if name == "FROM" else stage
        stage.append((name, " ".join(rest.split())))
    return stage


def instruction(name: str) -> str:
    """The last instruction of that name in the image."""
    return [text for found, text in image() if found == name][-1]


def image_environment() -> dict[str, str]:
    """Variables that the image sets."""
    pairs = [part.partition("=") for name, text in image() if name == "ENV" for part in shlex.split(text)]
    return {name: value for name, _, value in pairs if name != "PATH"}


def health_check() -> list[str]:
    """The command of the image that says whether it is well."""
    found: list[str] = json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])
    return found


def user() -> tuple[int, int]:
    """Ids of the user and group of the image."""
    uid, gid = instruction("USER").split(":")
    return int(uid), int(gid)


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """A value of a compose file with variables filled in as Compose does it, after parsing. Raises `Missing`."""
    if isinstance(value, dict):
        return {name: interpolated(one, variables) for name, one in value.items()}
    if isinstance(value, list):
        return [interpolated(one, variables) for one in value]
    return _VARIABLE.sub(lambda match: _filled(match, variables), value) if isinstance(value, str) else value


def _filled(match: re.Match[str], variables: Mapping[str, str]) -> str:
    name, kind, word = match["name"], match["kind"], match["word"]
    if not variables.get(name) and kind == ":?":
        raise Missing(f"{name}: {word}")
    return variables.get(name) or word or ""


def compose(name: str, **variables: str) -> dict[str, Any]:
    """A compose file, merged and filled in."""
    found: dict[str, Any] = interpolated(yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")), variables)
    return found


def service_start(service: Mapping[str, Any]) -> Start:
    """How a service of Headgate's image is started."""
    return Start(list(service["command"]), image_environment() | dict(service.get("environment", {})))


def unit(path: Path) -> dict[str, list[str]]:
    """Settings of the `[Service]` section of a unit."""
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return {name: value.splitlines() for name, value in parser["Service"].items()}


def unit_start(path: Path) -> Start:
    """How a unit is started, with the settings of its environment file."""
    service = unit(path)
    command = shlex.split(service["ExecStart"][-1])
    file = (FOLDER / "systemd" / "headgate.env").read_text(encoding="utf-8")
    lines = [line for line in file.splitlines() if line and not line.startswith("#")]
    pairs = [item.partition("=") for item in [*lines, *shlex.split(service["Environment"][-1])]]
    return Start(command[1:], {name: value for name, _, value in pairs})


def rendered(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The resources that Helm makes of the chart."""
    import helm_python

    with helm_python.Chart.load(str(CHART)) as chart:
        chart.validate_schema(dict(values))  # as `helm install` does first
        files = chart.render(dict(values), name="studio", namespace="prod")
    for name, text in files.items():
        if name.endswith(".yaml"):
            yield from (resource for resource in yaml.safe_load_all(text) if resource)


def pods(resources: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Pod templates by component."""
    templates = [one["spec"]["template"] for one in resources if one["kind"] == "Deployment"]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"] for one in templates}


def pod_start(pod: Mapping[str, Any]) -> Start:
    """How the container of a pod is started."""
    (container,) = pod["containers"]
    environment = {one["name"]: one["value"] for one in container["env"]}
    return Start(container["args"], image_environment() | environment)
