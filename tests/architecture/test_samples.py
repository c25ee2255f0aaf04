"""Samples on the pages of `docs/` are true: commands parse, JSON and Python parse, addresses exist."""

import json
import re
import tomllib
from typing import Any

import pytest
import typer
import yaml

from headgate.entrypoints.cli.app import root
from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.foundation.settings import Settings
from tests.architecture.source import ROOT
from tests.support.samples import DOCS, PAGES, SAMPLES, Sample, commands, requests, shell_lines, spans

ELLIPSIS = "..."
VALUE = re.compile(r"<[\w -]+>|\{[\w-]+\}|\$\{?\w+\}?")
ROUTER = ROOT / "web" / "src" / "app" / "router.tsx"
OTHER_SERVERS = {"/api/v1/chatflows", "/models"}
"""Addresses of Flowise and of model servers, which pages mention too."""


USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
INCOMPLETE = {"BadArgumentUsage", "BadOptionUsage"}


def command_faults(words: list[str], *, complete: bool) -> str:
    """What is wrong with a call of `headgate`; empty when it would be accepted."""
    command: Any = typer.main.get_command(root)
    context = command.context_class(command, info_name="headgate")
    while hasattr(command, "get_command"):
        while words and words[0] in {"--space", "--tenant"}:
            words = words[2:]
        if not words or words[0] == ELLIPSIS or words[0].startswith("-"):
            return ""
        name, *words = words
        following = command.get_command(context, name)
        if following is None and context.info_name == "components":
            return ""  # words to search for
        if following is None:
            return f"there is no command {name!r}"
        command, context = following, following.context_class(following, info_name=name, parent=context)
    return "" if ELLIPSIS in words else _usage_fault(command, context, words, complete=complete)


def _usage_fault(command: Any, context: Any, words: list[str], *, complete: bool) -> str:
    try:
        values, extra, _ = command.make_parser(context).parse_args(args=list(words))
    except USAGE_ERROR as error:
        return str(error) or type(error).__name__ if complete or type(error).__name__ not in INCOMPLETE else ""
    arguments = [p for p in command.params if p.param_type_name == "argument" and p.required]
    missing = [p.name for p in arguments if complete and not values.get(p.name)]
    return f"missing {missing}" if missing else f"too many arguments: {extra}" if extra else ""


def routes() -> list[tuple[str, re.Pattern[str]]]:
    """Method and pattern of every address that the server answers."""
    app = create_app(Settings(_env_file=None))
    load_routes(app)
    found: list[tuple[str, re.Pattern[str]]] = []
    for route in app.routes:
        methods = getattr(route, "methods", None) or {"GET"}
        path = str(getattr(route, "path", ""))
        pattern = re.compile(re.sub(r"\\\{\w+(:path)?\\\}", lambda m: ".+" if m[1] else "[^/]+", re.escape(path)))
        found += [(method, pattern) for method in methods]
    document = app.openapi()["paths"]
    for path, item in document.items():
        pattern = re.compile(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(path)))
        found += [(method.upper(), pattern) for method in item]
    return found


def answered(method: str, path: str, known: list[tuple[str, re.Pattern[str]]]) -> bool:
    """Whether the server has that address; pages leave `/api/v1` out."""
    plain = VALUE.sub("x", path)
    return any(verb == method and (rule.fullmatch(plain) or rule.fullmatch(f"/api/v1{plain}")) for verb, rule in known)


class TestCommands:
    def test_are_accepted(self) -> None:
        shown = list(commands())
        faults = {f"{page}: {' '.join(words)}": command_faults(words, complete=whole) for page, words, whole in shown}
        assert len(faults) > 100
        assert {call: fault for call, fault in faults.items() if fault} == {}

    @pytest.mark.parametrize(
        "line",
        [
            "headgate nothing",
            "headgate runs replay R",
            "headgate run F --nope",
            "headgate runs show",
            "headgate version a",
        ],
    )
    def test_that_are_wrong_are_noticed(self, line: str) -> None:
        words = next(shell_lines(line, console=False))[1:]
        assert command_faults(words, complete=True)


class TestCode:
    @pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.kind == "json"], ids=str)
    def test_json_parses(self, sample: Sample) -> None:
        json.loads(sample.text)

    @pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.kind == "python"], ids=str)
    def test_python_parses(self, sample: Sample) -> None:
        compile(sample.text, str(sample), "exec")

    @pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.kind == "toml"], ids=str)
    def test_toml_parses(self, sample: Sample) -> None:
        tomllib.loads(sample.text)

    @pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.kind == "yaml"], ids=str)
    def test_yaml_parses(self, sample: Sample) -> None:
        yaml.safe_load(sample.text)

    def test_is_of_a_kind_that_is_checked(self) -> None:
        kinds = {
            "flow",
            "flow-error",
            "json",
            "python",
            "toml",
            "yaml",
            "sh",
            "bash",
            "console",
            "text",
            "html",
            "nginx",
            "diff",
            "",
        }
        assert {sample.kind for sample in SAMPLES} - kinds == set()


class TestAddresses:
    def test_of_the_api_exist(self) -> None:
        known = routes()
        shown = list(requests())
        assert len(shown) > 150
        ours = [request for request in shown if request.path not in OTHER_SERVERS]
        assert [str(request) for request in ours if not answered(request.method, request.path, known)] == []

    def test_that_do_not_exist_are_noticed(self) -> None:
        known = routes()
        assert answered("PUT", "/flows/{id}/tests", known)
        assert not answered("POST", "/flows/{id}/tests", known)
        assert not answered("GET", "/api/v1/none", known)

    def test_of_the_studio_in_the_capabilities_exist(self) -> None:
        """`/observe` and the like: pages of the studio, slash commands of the assistant, or addresses of the server."""
        places = set(re.findall(r'path: "(/[^"]*)"', ROUTER.read_text(encoding="utf-8")))
        pages = [re.compile(re.sub(r"/\{-\$\w+\}", "(/[a-z-]+)?", place)) for place in places]
        known: list[Any] = [*pages, *(rule for method, rule in routes() if method == "GET")]
        shown = {span for span in spans(DOCS / "capabilities.md") if re.fullmatch(r"/[\w/-]*", span)}
        assert len(shown) > 5
        posted = {"/skip-all", "/mcp/flows"}
        assert [one for one in sorted(shown - posted) if not any(rule.fullmatch(one) for rule in known)] == []


def test_every_page_is_read() -> None:
    assert len(PAGES) > 50
