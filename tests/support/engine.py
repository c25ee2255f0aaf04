"""What engine tests stand on: components that do as told, flows of them, and services with nothing real behind them."""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr
from sqlalchemy import text

from headgate.components.approval import Approval
from headgate.components.clock import Wait
from headgate.components.iteration import ForEach
from headgate.components.mapping import Map
from headgate.components.sent_events import SendEvent, WaitForEvent
from headgate.components.state import ReadState, WaitForState, WriteState
from headgate.components.subflows import Loop, RunFlow
from headgate.components.web.pages import ForEachPage
from headgate.components.web.requests import HTTPRequest
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.catalog.registry import Registry
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.run_files import Given
from headgate.features.files.run_files import RunFiles as StoredRunFiles
from headgate.features.flows import service, versions
from headgate.features.runs.approvals.asking import StepApprovals
from headgate.features.runs.budgets.service import Budgets
from headgate.features.runs.deliveries.target import Target
from headgate.features.runs.engine.backend import RunRequest
from headgate.features.runs.failure_handlers.service import FailureHandlers
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import ChatModels
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.sent_events.of_steps import StepSentEvents
from headgate.features.runs.slots.service import Slots
from headgate.features.runs.spaces import FlowSpaces
from headgate.features.runs.transitions import Delivery, RunKey
from headgate.foundation import secret_values
from headgate.foundation.ciphertexts import prefix_of
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, Invalid, NotFound
from headgate.foundation.events import EventBus
from headgate.foundation.ids import new_id
from headgate.foundation.settings import EngineSettings, HttpSettings, LimitSettings, Settings
from headgate.foundation.webhooks import delivery_key
from headgate.graph.model import Edge, Flow, Node
from headgate.sdk import (
    NOT_TAKEN,
    Component,
    ConnectionReference,
    Data,
    File,
    HttpAnswer,
    Message,
    Model,
    NotTaken,
    Recording,
    RunInput,
    Text,
    Tool,
    Transcript,
    field,
    output,
)
from headgate.sdk.fakes import FakeCode, FakeHttp, InProcess
from headgate.sdk.state import StateChange
from headgate.sdk.tools import call_tool
from headgate.sdk.waiting import StepWaits, first_of
from tests.support.services import FixedServices, LimitedConnections
from tests.support.web import open_web


class OneRunner:
    """The same fake sandbox for every tenant."""

    def __init__(self, code: FakeCode | None = None) -> None:
        self._code = code or FakeCode()

    def runner(self, tenant_id: str) -> FakeCode:
        """Whoever asks."""
        return self._code


class Start(Component):
    """Gives the run's text."""

    @output()
    def text(self) -> Text:
        return self.ctx.input.text


class Echo(Component):
    """Gives back what came, with a mark behind it."""

    input: str = field(main=True)
    mark: str = field(default="", port=False)

    @output()
    def text(self) -> Text:
        return self.input + self.mark


class Titled(Component):
    """Puts a title, which it needs, before a note, which it does not need."""

    title: str = field(port=False)
    note: str = field(default="", main=True)

    @output()
    def text(self) -> Text:
        return f"{self.title}: {self.note}"


class Join(Component):
    """Joins what arrives."""

    parts: list[str] = field(default_factory=list, main=True, many=True)

    @output()
    def text(self) -> Text:
        return "+".join(self.parts)


class Fork(Component):
    """Takes the branch that the text names, or both."""

    input: str = field(main=True)

    @output(branch=True)
    def left(self) -> Text | NotTaken:
        return self.input if self.input in {"left", "both"} else NOT_TAKEN

    @output(branch=True)
    def right(self) -> Text | NotTaken:
        return self.input if self.input in {"right", "both"} else NOT_TAKEN


class Broken(Component):
    """Fails, or hangs with its whole process."""

    input: str = field(main=True)
    how: str = field(default="invalid", port=False)

    @output()
    def text(self) -> Text:
        if self.how == "unstorable":
            raise RuntimeError("a NUL \x00 and half a pair \ud800")
        if self.how == "invalid":
            raise Invalid("This step cannot work.", remedy="Take it out.")
        if self.how == "hangs":
            time.sleep(3600)
        if self.how == "holds the interpreter":
            re.match(r"(a+)+$", "a" * 40 + "b")
        raise RuntimeError(self.how)


class Gate(Component):
    """Says that it started by making a file, and works until another file is there. Without a name, its input is it."""

    input: str = field(default="", main=True)
    folder: str = field(port=False)
    name: str = field(default="gate", port=False)

    @output()
    async def text(self) -> Text:
        folder, name = Path(self.folder), self.name or self.input
        (folder / f"{name}.started").touch()
        while not (folder / f"{name}.open").exists():  # noqa: ASYNC110 - another process may open it
            await asyncio.sleep(0.005)
        return self.input


class GateOnConnection(Gate):
    """Opens a connection, and works on until a file is there."""

    connection: ConnectionReference = field(label="Connection", connection_kinds=("webhook",))

    @output(name="text")
    async def text(self) -> Text:
        await self.ctx.connection(self.connection)
        return await super().text()


class SendAndGate(SendEvent):
    """Sends an event, and works on until a file is there."""

    folder: str = field(port=False)

    @output(name="value")
    async def value(self) -> Data:
        value = await super().value()
        await Gate(folder=self.folder).text()
        return value


class Tally(Component):
    """Leaves a line in a file: the outside effect that tests count."""

    effect = True

    input: str = field(default="", main=True, tool_mode=True)
    path: str = field(port=False)
    seconds: float = field(default=0.0)

    @output()
    async def text(self) -> Text:
        await self.ctx.check_cancelled()
        with Path(self.path).open("a") as file:  # noqa: ASYNC230 - one line
            file.write(f"{self.ctx.node_id}\n")
        await asyncio.sleep(self.seconds)
        return self.input


class Needs(Component):
    """Leaves a line like `Tally`, then fails unless another file is there: what a person mends and resumes."""

    input: str = field(default="", main=True, tool_mode=True)
    file: str = field(port=False)
    path: str = field(port=False)

    @output()
    def text(self) -> Text:
        with Path(self.path).open("a") as file:
            file.write(f"{self.ctx.node_id}\n")
        if not Path(self.file).exists():
            raise Invalid(f"{self.file} is missing.", remedy="Make it.")
        return self.input


class Big(Component):
    """Makes a text, or data, of a given size."""

    input: str = field(default="", main=True)
    size: int = field(default=10)

    @output()
    def text(self) -> Text:
        return "å" * self.size

    @output()
    def data(self) -> Data:
        return ["x" * 10] * (self.size // 10)


class Adds(Component):
    """Adds two numbers of the run's form."""

    @output()
    def sum(self) -> Data:
        before, item = (str(self.ctx.input.form_data.get(name)) for name in ("before", "item"))
        if not item.isdigit():
            raise Invalid(f"{item} is no number.")
        return int(before) + int(item)


class Keep(Component):
    """Saves its input as a file."""

    input: str = field(main=True)

    @output()
    async def file(self) -> File:
        return await self.ctx.files.save("kept.txt", self.input.encode(), "text/plain")


class CountAndHold(Component):
    """Adds one to a value of the flow's state, then works until a file is there."""

    input: str = field(default="", main=True)
    folder: str = field(port=False)

    @output()
    async def text(self) -> Text:
        written = await self.ctx.state.write(StateChange("count", "increment", 1))
        folder = Path(self.folder)
        (folder / "counted").touch()
        while not (folder / "open").exists():  # noqa: ASYNC110 - another process may open it
            await asyncio.sleep(0.005)
        return f"{written.previous}, then {written.value}"


class Speak(Component):
    """Emits tokens, logs, counts tokens: what a model's step does, without a model."""

    input: str = field(main=True)

    @output()
    async def text(self) -> Text:
        self.ctx.record_prompt(self.input)
        for word in self.input.split():
            await self.ctx.emit(word)
        self.ctx.record_usage(
            Model(provider="test", name="echo", params={"temperature": 0.5, "api_key": "sk-secret-secret-secret"}),
            input_tokens=3,
            output_tokens=4,
        )
        self.ctx.record_tool_call("look_up", {"word": "head"}, {"found": True})
        self.ctx.log("spoke", words=len(self.input.split()))
        return self.input

    @output()
    def message(self) -> Message:
        return Message(role="assistant", text=self.input)


class Recall(Component):
    """Says what was said before."""

    input: str = field(main=True)

    @output()
    def text(self) -> Text:
        before = [f"{message.role}:{message.text}" for message in self.ctx.input.history]
        return " ".join([*before, self.input])


class Stamp(Component):
    """A tool with an effect: adds a line to a file."""

    effect = True

    what: str = field(default="", tool_mode=True)
    path: str = field(port=False)

    @output()
    def text(self) -> Text:
        with Path(self.path).open("a") as file:
            file.write(f"{self.what}\n")
        return f"stamped {self.what}"


class Caller(Component):
    """Calls each of its tools with the words of its input, as an agent does."""

    input: str = field(main=True)
    tools: list[Tool] = field(default_factory=list, many=True)

    @output()
    async def text(self) -> Text:
        results, waits = [], []
        for tool in self.tools:
            try:
                result = await call_tool(self.ctx, tool, {"what": self.input}, conversation="one")
            except StepWaits as wait:
                waits.append(wait)
            except HeadgateError as error:
                results.append(str(error))
            else:
                results.append(str(result))
        if waits:
            raise first_of(waits)
        return ", ".join(results)


COMPONENTS: tuple[type[Component], ...] = (
    Stamp,
    Caller,
    Approval,
    Needs,
    Start,
    Echo,
    Titled,
    Join,
    Fork,
    Broken,
    Gate,
    GateOnConnection,
    Tally,
    Big,
    Adds,
    Keep,
    Speak,
    CountAndHold,
    ReadState,
    WriteState,
    Recall,
    SendAndGate,
    SendEvent,
    Wait,
    WaitForEvent,
    WaitForState,
    RunFlow,
    ForEach,
    Map,
    ForEachPage,
    HTTPRequest,
    Loop,
)


class MemoryFiles:
    """Files in memory, by tenant."""

    def __init__(self) -> None:
        self.contents: dict[tuple[str, str], bytes] = {}
        self.files: dict[tuple[str, str], File] = {}
        self.origins: dict[str, Origin] = {}

    def add(self, name: str, content: bytes, media_type: str = "text/plain", tenant_id: str = LOCAL.tenant_id) -> File:
        file = File(id=new_id(), name=name, media_type=media_type, size=len(content))
        self.contents[tenant_id, file.id] = content
        self.files[tenant_id, file.id] = file
        return file

    async def given(self, principal: Principal, file_ids: Sequence[str]) -> Given:
        for file_id in file_ids:
            if (principal.tenant_id, file_id) not in self.files:
                raise NotFound(f"There is no file '{file_id}'.")
        return Given(tuple(self.files[principal.tenant_id, file_id] for file_id in file_ids))

    async def take(self, principal: Principal, flow_id: str, unshared: Sequence[str]) -> None:
        return None

    async def read_in(self, tenant_id: str, flow_id: str, file_id: str) -> bytes:
        return await self.read(tenant_id, file_id)

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        if (tenant_id, file_id) not in self.contents:
            raise NotFound(f"There is no file '{file_id}'.")
        return self.contents[tenant_id, file_id]

    async def of_run(self, key: RunKey) -> tuple[File, ...]:
        return tuple(self.files[key.tenant_id, made] for made, one in self.origins.items() if one.key == key)

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        file = self.add(name, content, media_type, origin.key.tenant_id)
        self.origins[file.id] = origin
        return file


class LoopbackHttp(FakeHttp):
    """The fake web; servers on loopback are asked by the real client, which allows them."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        if not url.startswith("http://127.0.0.1:"):
            return await super().request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
        web = open_web(HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")]))
        return await web.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)


class OneSpace:
    """Every flow is in one space."""

    async def of(self, tenant_id: str, flow_id: str) -> str:
        return LOCAL.space_id


class NoServers:
    """No MCP server is registered."""

    async def connection(self, origin: Origin, server: str) -> Any:
        raise NotFound(f"There is no MCP server '{server}'.")


class NoWorkspaces:
    """Nobody has files."""

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> Any:
        raise Invalid("There are no workspaces here.")


class NoModels:
    """No chat model is configured."""

    async def chat_model(self, origin: Origin, model: Model) -> Any:
        raise Invalid(f"No key for {model}.")

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        raise Invalid(f"No key for {model}.")

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> Any:
        raise Invalid(f"No key for {model}.")

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> Any:
        raise Invalid(f"No key for {model}.")

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        return frozenset()


class NoDeliveries:
    """Nothing is delivered; keeps what was to be."""

    def __init__(self) -> None:
        self.targets: list[Target] = []

    def seal(self, origin: Origin, target: Target) -> Delivery:
        self.targets.append(target)
        return Delivery(new_id(), b"sealed", "https://example.org/...", delivery_key(origin.key.run_id, origin.step_id))

    def send_soon(self, delivery_id: str) -> None:
        return None

    async def settle(self) -> None:
        return None


_SEALED = prefix_of("0" * 16)


class PlainSealer:
    """Encrypts nothing, in a way that is visible."""

    def encrypt(self, secret: SecretStr) -> bytes:
        return _SEALED + secret.get_secret_value().encode()[::-1]

    def decrypt(self, token: bytes) -> SecretStr:
        return SecretStr(token.removeprefix(_SEALED)[::-1].decode())


class DictSecrets:
    """Variables in a dictionary."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values = dict(values or {})

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        if name not in self.values:
            raise NotFound(f"There is no variable '{name}'.")
        secret_values.read(self.values[name])
        return SecretStr(self.values[name])

    async def recall(self, key: RunKey) -> None:
        return None


class StoredDefinitions:
    """Versions from the database, and how often they were asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads = 0

    async def __call__(self, key: RunKey) -> Flow:
        self.reads += 1
        return await versions.read_definition(
            self._database, tenant_id=key.tenant_id, flow_id=key.flow_id, version=key.version
        )


class GivenFacts:
    """Models cost 10 dollars per million tokens of a prompt and 20 of an answer, unless their names say otherwise."""

    async def of(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        return None if model.name.startswith("unpriced") else (10.0, 20.0)

    async def most(self, origin: Origin, model: Model) -> int | None:
        """How many steps may call a model at the same time: one where it is called so."""
        return 1 if model.name.startswith("single") else None


def make_services(
    database: Database,
    *,
    components: Iterable[type[Component]] = COMPONENTS,
    engine: EngineSettings | None = None,
    limits: LimitSettings | None = None,
    files: RunFiles | None = None,
) -> FixedServices:
    """Services with fakes behind them, on real versions."""
    sealer, spaces = PlainSealer(), FlowSpaces(database)
    return FixedServices(
        components=Registry(components),
        definitions=StoredDefinitions(database),
        chat_models=cast("ChatModels", NoModels()),
        http=LoopbackHttp(),
        files=files or MemoryFiles(),
        secrets=DictSecrets(),
        code=OneRunner(),
        isolated=OneRunner(InProcess()),
        mcp=NoServers(),
        workspaces=NoWorkspaces(),
        deliveries=NoDeliveries(),
        bus=EventBus(),
        limits=limits or LimitSettings(),
        engine=engine or EngineSettings(),
        spaces=spaces,
        sealer=sealer,
        approvals=StepApprovals(database, sealer, spaces),
        sent_events=StepSentEvents(database, sealer, spaces),
        budgets=Budgets(database, GivenFacts()),
        slots=Slots(database, GivenFacts()),
        connections=LimitedConnections(LoopbackHttp()),
        failure_handlers=FailureHandlers(database, "https://headgate.example"),
    )


def on_disk(database: Database, settings: Settings) -> RunFiles:
    """Files as an installation keeps them, for tests in which a second process reads them."""
    return StoredRunFiles(database, LocalStorage(settings.data_dir / "files"), FlowSpaces(database), settings.limits)


def make_flow(nodes: Mapping[str, str | Node], edges: Iterable[str] = (), **params: Mapping[str, Any]) -> Flow:
    """A flow: node id to type or node, edges as in the spec text (`a.text -> b.input`), params by node id."""
    made = [
        node if isinstance(node, Node) else Node(id=key, type=node, params=dict(params.get(key, {})))
        for key, node in nodes.items()
    ]
    return Flow(name="Test", nodes=tuple(made), edges=tuple(make_edge(edge) for edge in edges))


def make_edge(text: str) -> Edge:
    """An edge of its text."""
    left, right = text.split(" -> ")
    source, out = left.split(".")
    target, into = right.split(".")
    return Edge(source=source, output=out, target=target, input=into)


def make_chain(length: int, **last: Any) -> Flow:
    """Start and then echoes: `s1 -> s2 -> ...`."""
    nodes = {"s1": "Start"} | {f"s{number}": "Echo" for number in range(2, length + 1)}
    edges = [f"s{number}.text -> s{number + 1}.input" for number in range(1, length)]
    return make_flow(nodes, edges, **last)


async def store_flow(
    database: Database,
    flow: Flow,
    components: Iterable[type[Component]] = COMPONENTS,
    *,
    principal: Principal = LOCAL,
) -> RunKey:
    """Save and freeze a flow, in a principal's space. The key is of no run yet: see `new_run`."""
    registry = Registry(components)
    async with database.writing() as session:
        row = await service.create_flow(session, principal, registry, definition=flow)
    pinned = await versions.pin_version(database, principal, registry, row.id, wanted="draft")
    return RunKey("", pinned.tenant_id, pinned.flow_id, pinned.version)


async def publish(database: Database, version: RunKey) -> RunKey:
    """Publish a stored version without checks."""
    async with database.writing() as session:
        values = {"flow": version.flow_id, "version": version.version}
        await session.execute(
            text("UPDATE flow_versions SET release = version WHERE flow_id = :flow AND version = :version"), values
        )
        await session.execute(text("UPDATE flows SET published_version = :version WHERE id = :flow"), values)
    return version


def new_run(version: RunKey, text: str = "hello", **more: Any) -> RunRequest:
    """A request for a run of a stored version."""
    key = RunKey(new_id(), version.tenant_id, version.flow_id, version.version)
    return RunRequest(key=key, input=RunInput(text=text, **more.pop("input", {})), **more)
