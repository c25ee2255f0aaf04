"""One readiness check behind every entry point: each case through each of them, with the same answer."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import JsonValue, SecretStr

from headgate.agents.assistant.schemas import AssistRequest
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.mcp.studio import studio_of
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.secrets.service import set_variable
from headgate.foundation.settings import Settings
from headgate.graph.issues import FlowInvalid
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.workbench import Workbench

Answer = frozenset[tuple[str, str, str]]
"""Code, node and message of each error."""


def steps(text: str, edges: str = "", form: str = "") -> str:
    """A flow as text."""
    return f"name: Case\n{form}nodes:\n{text}" + (f"edges:\n{edges}" if edges else "")


def request(lines: str) -> str:
    """A flow of one HTTP request."""
    return steps(f"  call: HTTPRequest\n{lines}")


REGEX = "  heard: ChatInput\n  find: Regex\n    pattern: {pattern}\n"
AGENT = "  heard: ChatInput\n  tools: {tools}\n  boss: Agent\n    model: openai/gpt-5-mini\n    instructions: {words}\n"
AGENT_EDGES = "  heard.text -> boss.input\n  tools.tools -> boss.tools\n"
ASK = "  heard: ChatInput\n  ask: AIStep\n    prompt: Answer.\n    model: {model}\n"
ASK_EDGES = "  heard.text -> ask.input\n"
TABLE = "  rows: ParseJSON\n    text: '[{\"a\": 1}]'\n  query: TableQuery\n    sql: SELEC a FROM t\n"
URL = "    url: https://example.org/\n"


@dataclass(frozen=True)
class Case:
    """A flow, and the codes of what the check says."""

    spec: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def chain(first: str, *fallback: JsonValue) -> str:
    """A model with fallback models, as the text of a flow holds it."""
    provider, _, name = first.partition("/")
    return json.dumps({"provider": provider, "name": name, "fallback": [*fallback]})


CASES: dict[str, Case] = {
    "an MCP server that is not registered": Case(
        steps(AGENT.format(tools="McpTools\n    server: weather", words="Help."), AGENT_EDGES),
        ("mcp_server",),
    ),
    "a provider that does not exist": Case(steps(ASK.format(model="nosuch/model"), ASK_EDGES), ("model_not_usable",)),
    "a model without a key": Case(
        steps(ASK.format(model="anthropic/claude-sonnet-4-5"), ASK_EDGES), ("model_not_usable",)
    ),
    "an unknown model parameter": Case(
        steps(
            ASK.format(model='{"provider": "openai", "name": "gpt-5-mini", "params": {"fallback": "x/y"}}'), ASK_EDGES
        ),
        ("model_not_usable",),
    ),
    "a fallback model without a key": Case(
        steps(ASK.format(model=chain("openai/gpt-5-mini", "anthropic/claude-sonnet-4-5")), ASK_EDGES),
        warnings=("model_not_usable",),
    ),
    "a model without a key that has a usable fallback model": Case(
        steps(ASK.format(model=chain("anthropic/claude-sonnet-4-5", "openai/gpt-5-mini")), ASK_EDGES),
        warnings=("model_not_usable",),
    ),
    "a model and a fallback model without a key": Case(
        steps(ASK.format(model=chain("anthropic/claude-sonnet-4-5", "groq/openai/gpt-oss-20b")), ASK_EDGES),
        ("model_not_usable", "model_not_usable"),
    ),
    "a single label": Case(
        steps('  a: Classify\n    model: openai/gpt-5-mini\n    value: x\n    labels: ["one"]\n'), ("invalid_value",)
    ),
    "no labels": Case(steps("  a: Classify\n    model: openai/gpt-5-mini\n    value: x\n"), ("missing_value",)),
    "form answers without a form": Case(steps("  form: FormInput\n"), ("missing_form",)),
    "a file field that the form does not have": Case(
        steps("  file: FileInput\n    field: letter\n"), ("missing_form",)
    ),
    "a file field that holds text": Case(
        steps("  file: FileInput\n    field: letter\n", form="form:\n  letter: text\n"), ("missing_form",)
    ),
    "a value that an edge hides": Case(
        steps(
            "  heard: ChatInput\n  line: CombineText\n  out: ChatOutput\n    input: never seen\n",
            "  heard.text -> line.parts\n  line.text -> out.input\n",
        ),
        warnings=("hidden_value",),
    ),
    "a value that an edge hides on a branch": Case(
        steps(
            "  heard: ChatInput\n  strike: If\n    compare: strike\n"
            "  quiet: TextInput\n    text: all quiet\n  out: ChatOutput\n",
            "  heard.text -> strike.value\n  strike.false -> quiet.text\n  quiet.text -> out.input\n",
        ),
        warnings=("hidden_value",),
    ),
    "a missing variable in a header": Case(
        request(URL + '    headers: {"authorization": {"secret": "NO_TOKEN", "scheme": "Bearer"}}\n'),
        ("variable_not_found",),
    ),
    "a secret that was stored for another server": Case(
        request(URL + '    headers: {"authorization": {"secret": "FOR_ANOTHER", "scheme": "Bearer"}}\n'),
        ("variable_kept",),
    ),
    "the same in a policy, with a reference in the path": Case(
        steps(
            "  heard: TextInput\n    policy:\n      output_mode: http_post\n      output_config: "
            '{"url": "https://example.org/{{flow_input.text}}", "headers": {"x-token": {"secret": "FOR_ANOTHER"}}}\n'
        ),
        ("variable_kept",),
    ),
    "a missing variable in a policy": Case(
        steps(
            "  heard: TextInput\n    policy:\n      output_mode: http_post\n      output_config: "
            '{"url": "https://example.org/", "headers": {"x-token": {"secret": "NO_TOKEN"}}}\n'
        ),
        ("variable_not_found",),
    ),
    "an address of FTP": Case(request("    url: ftp://example.org/file\n"), ("address",)),
    "an address of a file": Case(request("    url: file:///etc/passwd\n"), ("address",)),
    "an address of FTP with a reference": Case(
        request("    url: ftp://example.org/{{flow_input.text}}\n"), ("address",)
    ),
    "the address of a cloud's metadata": Case(
        request("    url: http://169.254.169.254/latest/meta-data/\n"), ("address",)
    ),
    "the same written in hexadecimal": Case(request("    url: http://0xa9fea9fe/latest\n"), ("address",)),
    "the same in a policy": Case(
        steps(
            "  heard: TextInput\n    policy:\n      input_source: http_get\n"
            '      input_config: {"url": "http://169.254.169.254/latest"}\n'
        ),
        ("address",),
    ),
    "a header of the connection": Case(
        request(URL + '    headers: {"Host": "other.example.org"}\n'), ("invalid_value",)
    ),
    "SQL that does not parse": Case(steps(TABLE, "  rows.data -> query.table\n"), ("expression",)),
    "SQL that writes": Case(
        steps(TABLE.replace("SELEC a FROM t", "DELETE FROM t"), "  rows.data -> query.table\n"), ("expression",)
    ),
    "JMESPath that does not parse": Case(
        steps(
            "  rows: ParseJSON\n    text: '[1]'\n  pick: SelectData\n    expression: items[?\n",
            "  rows.data -> pick.data\n",
        ),
        ("expression",),
    ),
    "a pattern that RE2 does not run": Case(
        steps(REGEX.format(pattern="(?=a)b"), "  heard.text -> find.text\n"), ("expression",)
    ),
    "a pattern of a condition": Case(
        steps(
            "  heard: ChatInput\n  sort: If\n    operator: matches\n    compare: '(a'\n", "  heard.text -> sort.value\n"
        ),
        ("expression",),
    ),
    "workspace tools for a binary file": Case(
        steps(AGENT.format(tools="WorkspaceFiles", words="Read report.pdf and write summary.xlsx."), AGENT_EDGES),
        warnings=("text_files_only",),
    ),
    "a code that no error has": Case(
        steps(
            "  heard: ChatInput\n  said: ChatOutput\n    policy:\n"
            '      retry: {"max_attempts": 2, "codes": ["step_timout", "step_timeout", "*"]}\n',
            "  heard.message -> said.input\n",
        ),
        warnings=("error_code",),
    ),
    "a shared assistant that is not there": Case(
        steps("  heard: ChatInput\n  ask: AIStep\n    prompt: Answer.\n    assistant: nobody\n", ASK_EDGES),
        ("unresolved_reference", "missing_value"),
    ),
    "a model of a shared assistant": Case(
        steps("  heard: ChatInput\n  ask: AIStep\n    prompt: Answer.\n    assistant: clerk\n", ASK_EDGES)
    ),
    "a model with a key, SQL, JMESPath and a pattern": Case(
        steps(
            ASK.format(model="openai/gpt-5-mini")
            + "  rows: TableQuery\n    sql: SELECT a, count(*) AS n FROM t JOIN t2 USING (a) GROUP BY a\n"
            + "  more: ParseJSON\n    text: '[{\"a\": 1}]'\n  other: ParseJSON\n    text: '[{\"a\": 2}]'\n"
            + "  pick: SelectData\n    expression: items[?price > `10`].name\n"
            + "  find: Regex\n    pattern: (?P<word>a+)\n",
            ASK_EDGES
            + "  more.data -> rows.table\n  other.data -> rows.table\n  more.data -> pick.data\n"
            + "  ask.output -> find.text\n",
        )
    ),
    "a variable that is set": Case(request(URL + '    headers: {"authorization": {"secret": "CRM_TOKEN"}}\n')),
}


@pytest.fixture
async def app(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FastAPI]:
    monkeypatch.setenv("HEADGATE_DATABASE__URL", settings.database_url)
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(settings.data_dir))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            values = dict.fromkeys(("OPENAI_API_KEY", "CRM_TOKEN"), "sk-0123456789abcdefgh")
            for name, value in (values | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).items():
                await set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
            other, box = SecretStr("sk-for-another"), made.state.box
            hosts = ("https://another.example.org",)
            await set_variable(session, LOCAL, box, name="FOR_ANOTHER", value=other, hosts=hosts)
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as found:
        clerk = {"name": "clerk", "instructions": "Be brief.", "model": "openai/gpt-5-mini"}
        assert (await found.post("/assistants", json=clerk)).status_code == 201
        yield found


def errors_of(issues: list[dict[str, Any]]) -> Answer:
    return frozenset(
        (one["code"], one.get("node", ""), one["message"]) for one in issues if one.get("severity") != "warning"
    )


def refused(answer: httpx2.Response) -> Answer:
    """What an answer that may be a refusal says."""
    if answer.status_code == 422:
        return errors_of(answer.json()["issues"])
    assert answer.is_success, answer.text
    return frozenset()


@dataclass(frozen=True)
class AccessControl:
    """Every entry point that says whether a stored flow can run, or that refuses one."""

    app: FastAPI
    client: httpx2.AsyncClient
    capsys: pytest.CaptureFixture[str]
    flow_id: str
    spec: str

    async def canvas(self) -> Answer:
        return errors_of((await self.client.get(f"/flows/{self.flow_id}")).json()["issues"])

    async def imported(self) -> Answer:
        answer = await self.client.post("/flows/import", json={"content": self.spec})
        assert answer.status_code == 201, answer.text
        return errors_of(answer.json()["issues"])

    async def import_report(self) -> Answer:
        answer = await self.client.post("/flows/import/report", json={"content": self.spec})
        assert answer.status_code == 200, answer.text
        return errors_of(answer.json()["problems"])

    async def dry_run(self) -> Answer:
        answer = (await self.client.post(f"/flows/{self.flow_id}/dry-run", json={})).json()
        errors = errors_of(answer["findings"])
        assert answer["ok"] is not bool(errors)
        return errors

    async def mcp_tool(self) -> Answer:
        parts = self.app.state._state["parts"][2]
        visit = Visit(studio_of(parts), LOCAL)
        found = await OPERATIONS["validate_flow"].call(visit, {"flow_id": self.flow_id})
        io = await OPERATIONS["describe_flow_io"].call(visit, {"flow_id": self.flow_id})
        assert (found["runnable"], found["needs"]) == (io["runnable"], io["needs"])
        issues: Any = found["issues"]
        assert found["runnable"] is not bool(errors_of(issues))
        return errors_of(issues)

    async def assistant_tool(self) -> Answer:
        assistant = self.app.state.assistant
        desk = await assistant.open(LOCAL, AssistRequest(input_value="Check it.", flow_id=self.flow_id))
        bench = Workbench(
            principal=LOCAL,
            space_id=desk.space_id,
            flow=desk.stored,
            registry=Overlay(self.app.state.registry, self.app.state.index),
            environment=await desk.environment(desk.stored),
        )
        tool = next(one for one in TOOLS if one.name == "describe_flow_io")
        issues: Any = (await tool.call(bench, {}))["issues"]
        answer = errors_of(issues)
        if answer:
            with pytest.raises(FlowInvalid):
                await desk.run(desk.stored, text="", form={})
        return answer

    async def command_line(self) -> Answer:
        path = self.app.state.settings.data_dir / "case.flow"
        path.write_text(self.spec)
        self.capsys.readouterr()
        code = await asyncio.to_thread(run, ["validate", str(path), "--json"])
        answer = json.loads(self.capsys.readouterr().out)
        assert (code == 0, answer["installation"]) == (answer["valid"], True)
        return errors_of(answer["issues"])

    async def list_of_flows(self) -> Answer:
        """The list shows how many problems there are."""
        items = (await self.client.get("/flows")).json()["items"]
        count = next(item["problems"] for item in items if item["id"] == self.flow_id)
        found = await self.canvas()
        assert count == len(found)
        return found

    async def start(self) -> Answer:
        return refused(await self.client.post(f"/flows/{self.flow_id}/runs", json={"text": "hello"}))

    async def publish(self) -> Answer:
        return refused(await self.client.post(f"/flows/{self.flow_id}/publish", json={}))

    @property
    def others(self) -> dict[str, Callable[[], Awaitable[Answer]]]:
        """All but the canvas."""
        return {
            "import": self.imported,
            "import report": self.import_report,
            "dry run": self.dry_run,
            "MCP tool": self.mcp_tool,
            "assistant tool": self.assistant_tool,
            "command line": self.command_line,
            "list of flows": self.list_of_flows,
            "publish": self.publish,
            "start": self.start,
        }


async def stored(client: httpx2.AsyncClient, case: Case) -> dict[str, Any]:
    answer = await client.post("/flows", json={"spec": case.spec})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestTheCheck:
    async def test_finds_what_a_start_refuses(self, client: httpx2.AsyncClient) -> None:
        found = {}
        for name, case in CASES.items():
            issues = (await stored(client, case))["issues"]
            warnings = tuple(one["code"] for one in issues if one.get("severity") == "warning")
            errors = tuple(one["code"] for one in issues if one.get("severity") != "warning")
            found[name] = (sorted(errors), warnings)
        assert found == {name: (sorted(case.errors), case.warnings) for name, case in CASES.items()}

    async def test_answers_the_same_behind_every_entry_point(
        self, app: FastAPI, client: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
    ) -> None:
        disagreeing = {}
        for name, case in CASES.items():
            doors = AccessControl(app, client, capsys, (await stored(client, case))["id"], case.spec)
            expected = await doors.canvas()
            for door, ask in doors.others.items():
                answer = await ask()
                if answer != expected:
                    disagreeing[name, door] = answer ^ expected
        assert disagreeing == {}

    async def test_says_what_a_flow_needs_from_outside(self, client: httpx2.AsyncClient) -> None:
        flow = await stored(client, CASES["a missing variable in a header"])
        assert flow["needs"] == [
            {"kind": "variable", "name": "NO_TOKEN", "state": "missing", "nodes": ["call"]},
            {"kind": "host", "name": "example.org", "state": "unknown", "nodes": ["call"]},
        ]

    async def test_warns_of_a_handler_of_failures_that_would_not_be_started(self, client: httpx2.AsyncClient) -> None:
        spec = steps("  heard: ChatInput\n  out: ChatOutput\n", "  heard.text -> out.input\n")
        watched = await client.post("/flows", json={"spec": f"{spec}settings:\n  error_flow: Alarm\n"})
        path = f"/flows/{watched.json()['id']}"

        async def warnings() -> list[str]:
            flow = (await client.get(path)).json()
            assert errors_of(flow["issues"]) == Answer()
            return [one["message"] for one in flow["issues"] if one["field"] == "error_flow"]

        warned = ["the flow 'Alarm', which handles failures, does not exist or is not published: it is not started."]
        assert await warnings() == warned
        alarm = (await client.post("/flows", json={"spec": spec.replace("Case", "Alarm")})).json()["id"]
        assert await warnings() == warned
        assert (await client.post(f"/flows/{alarm}/publish", json={})).is_success
        assert await warnings() == []
        assert (await client.delete(f"/flows/{alarm}")).is_success
        assert await warnings() == warned
        assert (await client.post(f"{path}/publish", json={})).is_success

    async def test_is_made_again_when_what_a_version_needs_is_gone(
        self, app: FastAPI, client: httpx2.AsyncClient
    ) -> None:
        """A draft that was frozen, and a version that was published, name things that are there no more."""
        flow_id = (await stored(client, CASES["a variable that is set"]))["id"]
        assert (await client.post(f"/flows/{flow_id}/publish", json={})).is_success
        assert (await client.delete("/variables/CRM_TOKEN")).is_success
        for version in ("draft", "published"):
            answer = await client.post(f"/flows/{flow_id}/runs", json={"version": version})
            assert [one["code"] for one in answer.json()["issues"]] == ["variable_not_found"]
        assert {one[0] for one in refused(await client.post(f"/flows/{flow_id}/publish", json={}))} == {
            "variable_not_found"
        }

    async def test_refuses_a_start_without_the_file_that_the_flow_begins_with(self, client: httpx2.AsyncClient) -> None:
        flow = await stored(client, Case(steps("  file: FileInput\n")))
        assert flow["issues"] == []
        assert [one["kind"] for one in flow["needs"]] == ["file"]
        answer = await client.post(f"/flows/{flow['id']}/runs", json={})
        assert answer.status_code == 422
        assert "'file' reads a file" in answer.json()["detail"]


NO_MODEL = {
    "a model step": steps("  heard: ChatInput\n  ask: AIStep\n    prompt: Answer.\n", ASK_EDGES),
    "an empty model": steps('  heard: ChatInput\n  ask: AIStep\n    prompt: Answer.\n    model: ""\n', ASK_EDGES),
    "an agent with a tool": steps(
        "  heard: ChatInput\n  sums: Calculator\n  boss: Agent\n",
        "  heard.text -> boss.input\n  sums.tool -> boss.tools\n",
    ),
    "a connected model": steps(
        "  heard: ChatInput\n  chosen: LanguageModel\n  ask: AIStep\n    prompt: Answer.\n",
        ASK_EDGES + "  chosen.model -> ask.model\n",
    ),
    "structured output": steps(
        '  heard: ChatInput\n  read: StructuredOutput\n    schema: {"type": "object"}\n',
        "  heard.text -> read.input\n",
    ),
}
"""Flows with a model step that names no model."""
DEFAULTS = {"": "missing_value", "openai/gpt-5-mini": "", "anthropic/claude-sonnet-4-5": "model_not_usable"}
"""Default models for steps, and the error of a step that names none."""


async def choose_default(client: httpx2.AsyncClient, model: str) -> None:
    """Choose the default model for steps; none for an empty name."""
    if model:
        answer = await client.put("/model-roles/step", json={"models": [{"model": model}]})
        assert answer.is_success, answer.text


class TestAStepWithoutAModel:
    @pytest.mark.parametrize("default", DEFAULTS)
    async def test_uses_the_default_behind_every_entry_point(
        self, app: FastAPI, client: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str], default: str
    ) -> None:
        await choose_default(client, default)
        disagreeing = {}
        for name, spec in NO_MODEL.items():
            expected = DEFAULTS[default]
            flow = await stored(client, Case(spec))
            doors = AccessControl(app, client, capsys, flow["id"], spec)
            for door, ask in {"canvas": doors.canvas, **doors.others}.items():
                codes = {one[0] for one in await ask()}
                if codes != ({expected} if expected else set()):
                    disagreeing[name, door] = codes
        assert disagreeing == {}

    async def test_needs_the_default_and_stays_without_one_on_the_canvas(self, client: httpx2.AsyncClient) -> None:
        await choose_default(client, "openai/gpt-5-mini")
        flow = await stored(client, Case(NO_MODEL["a model step"]))
        assert {(one["kind"], one["name"], one["state"]) for one in flow["needs"]} == {
            ("model", "openai/gpt-5-mini", "ready"),
            ("variable", "OPENAI_API_KEY", "ready"),
        }
        assert "model" not in flow["definition"]["nodes"][1]["params"]
        look = (await client.post(f"/flows/{flow['id']}/dry-run", json={})).json()
        assert [model["model"] for step in look["path"] for model in step["models"]] == ["openai/gpt-5-mini"]

    async def test_of_a_version_is_frozen(self, client: httpx2.AsyncClient) -> None:
        """A published version keeps its model when another default is chosen, or none; a draft follows."""
        await choose_default(client, "openai/gpt-5-mini")
        flow_id = (await stored(client, Case(NO_MODEL["a model step"])))["id"]
        published = (await client.post(f"/flows/{flow_id}/publish", json={})).json()["version"]
        assert (await client.delete("/model-roles/step")).is_success
        assert {one[0] for one in refused(await client.post(f"/flows/{flow_id}/runs", json={}))} == {"missing_value"}
        assert refused(await client.post(f"/flows/{flow_id}/runs", json={"version": "published"})) == frozenset()
        look = (await client.post(f"/flows/{flow_id}/dry-run", json={"version": "published"})).json()
        assert [model["model"] for step in look["path"] for model in step["models"]] == ["openai/gpt-5-mini"]
        await choose_default(client, "openai/gpt-5")
        drafted = await client.post(f"/flows/{flow_id}/runs", json={"text": "a"})
        assert drafted.json()["version"] == published + 1
        difference = (await client.get(f"/flows/{flow_id}/versions/{published}..draft")).json()
        assert any("linked.model" in line for line in difference["lines"])

    async def test_of_a_version_without_one_is_refused_as_its_start_is(self, client: httpx2.AsyncClient) -> None:
        """A version that was kept when there was no default is never ready, whatever is chosen later."""
        flow = await stored(client, Case(NO_MODEL["a model step"]))
        url = f"/flows/{flow['id']}"
        await choose_default(client, "openai/gpt-5-mini")
        first = (await client.post(f"{url}/runs", json={"text": "a"})).json()["version"]
        assert (await client.delete("/model-roles/step")).is_success
        body = {"revision": flow["revision"]}
        assert (await client.post(f"{url}/versions/{first}/restore", json=body)).is_success
        kept = first + 1  # the draft as it was, without a model
        await choose_default(client, "openai/gpt-5-mini")
        look = (await client.post(f"{url}/dry-run", json={"version": kept})).json()
        start = refused(await client.post(f"{url}/runs", json={"version": kept, "text": "a"}))
        assert {one["code"] for one in look["findings"] if one["severity"] == "error"} == {"missing_value"}
        assert {one[0] for one in start} == {"missing_value"}


class TestAPartOfAFlow:
    async def test_runs_without_what_only_the_rest_needs(self, client: httpx2.AsyncClient) -> None:
        text = "  heard: ChatInput\n  call: HTTPRequest\n" + URL
        text += '    headers: {"authorization": {"secret": "NO_TOKEN"}}\n    body: "{{heard.text}}"\n'
        answer = await client.post("/flows", json={"spec": steps(text, "  heard.text -> call.body\n")})
        flow_id = answer.json()["id"]
        whole = await client.post(f"/flows/{flow_id}/runs", json={"text": "hello"})
        assert whole.status_code == 422
        async with asyncio.timeout(60):
            part = await client.post(
                f"/flows/{flow_id}/runs", json={"text": "hello", "only_step": "heard", "wait": True}
            )
        assert part.is_success, part.text
        assert part.json()["status"] == "completed"


PIECES: dict[str, tuple[str, ...]] = {
    "Regex": ("pattern: a+", "pattern: (a", "pattern: (?=a)", "pattern: '{{heard.text}}'"),
    "If": ("compare: a", "operator: matches\n    compare: '(a'", "field: '[?'\n    compare: a"),
    "TextInput": ("text: '{{heard.text}}'", "text: '{{nobody.text}}'", "text: '{{flow_input.name}}'"),
    "FormInput": ("only: name", "only: nothing", ""),
    "AIStep": ("prompt: x\n    model: nosuch/model", "prompt: x\n    model: anthropic/claude-sonnet-4-5", "prompt: x"),
    "CombineText": ("separator: ','",),
}
"""Steps with values that are right and wrong; none of them reaches out."""
MAIN_FIELDS = {"Regex": "text", "If": "value", "AIStep": "input", "CombineText": "parts"}


def generated(choice: random.Random) -> str:
    """A flow of a few steps, each connected or not, with right and wrong values, with or without a form."""
    lines, edges = ["  heard: ChatInput"], []
    for number in range(choice.randint(1, 4)):
        type_ = choice.choice(sorted(PIECES))
        lines.append(f"  n{number}: {type_}")
        lines += [f"    {value}" for value in [choice.choice(PIECES[type_])] if value]
        if type_ in MAIN_FIELDS and choice.random() < 0.9:
            edges.append(f"  heard.text -> n{number}.{MAIN_FIELDS[type_]}")
    form = "form:\n  name: text\n" if choice.random() < 0.5 else ""
    return steps("\n".join(lines) + "\n", "\n".join(edges) + "\n" if edges else "", form)


class TestGeneratedFlows:
    @pytest.mark.parametrize("default", DEFAULTS)
    async def test_start_exactly_when_the_check_says_that_they_are_ready(
        self, client: httpx2.AsyncClient, default: str
    ) -> None:
        await choose_default(client, default)
        ready = 0
        for seed in range(40):
            spec = generated(random.Random(seed))
            answer = await client.post("/flows/import", json={"content": spec})
            if answer.status_code == 422:
                continue  # not even a draft
            errors = errors_of(answer.json()["issues"])
            start = await client.post(f"/flows/{answer.json()['id']}/runs", json={"text": "a", "form_data": {}})
            assert refused(start) == errors, spec
            ready += not errors
        assert 3 < ready < 37
