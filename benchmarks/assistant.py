"""What a turn of the assistant costs besides the model: first event, a build of twelve tool calls, search, memory.

The model answers at once: over OpenAI's protocol from a process of its own, through the real client library, and as a
chat model in this process. The floor, in the same run: the bodies that the server was sent, posted to it again by a
bare HTTP client, one after the other. Turns and floor take turns.

    python -m benchmarks.assistant [--quick | --smoke] [--json FILE]
"""

import asyncio
import gc
import os
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import psutil
from pydantic import SecretStr
from tests.support.databases import make_settings, migrate

from benchmarks.assistant_in_process import in_process
from benchmarks.assistant_model import TOOLS, WireModel, wire_model
from benchmarks.measure import Options, Report, arguments, percentile
from headgate.agents.assistant.models.choice import ModelsAvailable, TurnModels
from headgate.agents.assistant.schemas import AssistRequest
from headgate.agents.assistant.service import Assistant
from headgate.agents.assistant.turn.events import AssistEvent
from headgate.components import BUILTINS
from headgate.entrypoints.compose import Parts, open_parts
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex, template_texts
from headgate.features.secrets import service as secrets
from headgate.foundation import log
from headgate.foundation.settings import LogSettings, Settings
from headgate.toolkit.workbench import Workbench

FIRST_MS, BUILD_MS, SEARCH_MS, GROWTH = 30.0, 150.0, 5.0, 1.1
COMPONENTS = 1000
QUERIES = ("read a web page", "summarise with a model", "send to a webhook", "spliting texts", "calculate numbers")


@dataclass
class Took:
    """Milliseconds of each turn."""

    first: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    """To the first event that the model's answer makes: the flow that it builds."""
    whole: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)


class OneModel:
    """Gives each turn a model of this process."""

    def __init__(self, tools: int) -> None:
        self.tools = tools

    async def choose(
        self, _principal: Principal, *, provider: str | None, name: str | None, bench: Workbench, session_id: str = ""
    ) -> TurnModels:
        """A fresh one."""
        del provider, name, bench, session_id
        return TurnModels(provider="scripted", chat=in_process(self.tools), available=_none)

    async def check_config(self, _principal: Principal) -> Any:
        """Nobody asks."""
        raise NotImplementedError

    def explain(self, error: Exception) -> Any:
        """As it is."""
        return error


async def _none() -> ModelsAvailable:
    return ModelsAvailable(providers=())


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    report = Report(
        f"A turn of the assistant; load of the machine {os.getloadavg()[0]:.1f}",
        ("what", "p50", "p95", "aim", "floor p50", "ratio"),
    )
    with tempfile.TemporaryDirectory() as folder, wire_model() as model:
        settings = make_settings(Path(folder), log=LogSettings(level="error"))
        log.configure(settings.log)
        migrate(settings)
        asyncio.run(_measure(report, settings, model, options))
    report.finish(options, picture="assistant.png")


async def _measure(report: Report, settings: Settings, model: WireModel, options: Options) -> None:
    async with open_parts(settings) as parts:
        await _configure(parts, model)
        wire = parts.assistant
        rounds = options.choose(101, 16, 1)
        _tell(report, "over the wire", await _turns(wire, "openai", rounds, model))
        local = replace(wire, models=OneModel(TOOLS))
        _tell(report, "model in this process", await _turns(local, "scripted", rounds, None))
        _search(report, options.choose(2000, 200, 2))
        await _memory(report, replace(wire, models=OneModel(1)), options.choose(1000, 200, 3))


async def _configure(parts: Parts, model: WireModel) -> None:
    async with parts.database.writing() as session:
        for name, value in (("OPENAI_API_KEY", "sk-benchmark"), ("OPENAI_BASE_URL", model.base_url)):
            await secrets.set_variable(session, LOCAL, parts.box, name=name, value=SecretStr(value))


async def _turns(assistant: Assistant, provider: str, rounds: int, model: WireModel | None) -> Took:
    """Time so many turns; of several, the first is not counted: it imports LangChain."""
    took = Took()
    request = AssistRequest(input_value="build an echo", provider=provider, model_name="gpt-5-mini")
    for number in range(rounds):
        first, answered, whole = await _turn(assistant, request)
        floor = await _floor(model) if model is not None else 0.0
        if number == 0 and rounds > 1:
            continue
        took.first.append(first)
        took.answered.append(answered)
        took.whole.append(whole)
        took.floor.append(floor)
    return took


async def _turn(assistant: Assistant, request: AssistRequest) -> tuple[float, float, float]:
    """Milliseconds to the first event, to the first that changes the flow, and to the last, which is `complete`."""
    started = time.perf_counter()
    seen: dict[str, float] = {}
    last: AssistEvent = {"event": ""}
    async for event in assistant.stream(await assistant.open(LOCAL, request), request):
        last, now = event, (time.perf_counter() - started) * 1000
        seen.setdefault("first", now)
        seen.setdefault(event["event"], now)
    if last["event"] != "complete":
        raise RuntimeError(f"the turn ended with {last}")
    answered = min(seen.get(kind, now) for kind in ("flow_update", "flow_preview", "complete"))
    return seen["first"], answered, now


async def _floor(model: WireModel) -> float:
    """Milliseconds of posting the same bodies with a bare client and reading the answers."""
    bodies = model.bodies()
    started = time.perf_counter()
    async with httpx2.AsyncClient(base_url=model.base_url) as client:
        for body in bodies:
            (await client.post("/chat/completions", json=body)).raise_for_status()
    took = (time.perf_counter() - started) * 1000
    model.bodies()
    return took


def _tell(report: Report, how: str, took: Took) -> None:
    floor = percentile(took.floor, 0.5)
    calls = f"{TOOLS} tool calls"
    built = "flow built, after two answers of the model"
    for what, values, aim in (
        ("first event", took.first, FIRST_MS),
        (built, took.answered, BUILD_MS),
        (calls, took.whole, BUILD_MS),
    ):
        middle, high = percentile(values, 0.5), percentile(values, 0.95)
        against = floor if what == calls else 0.0
        ours = middle - against
        report.add(
            f"{what}, {how}",
            f"{middle:.1f} ms",
            f"{high:.1f} ms",
            f"{aim:g} ms",
            f"{against:.1f} ms" if against else "",
            f"{middle / against:.2f}x" if against else "",
            values={"p50": middle, "p95": high, "aim": aim, "floor": against, "ours": ours},
            bar=(f"{what}, {how}", ours / aim),
        )


def _search(report: Report, rounds: int) -> None:
    registry = Registry(BUILTINS)
    found = [template for name in registry.types() if (template := registry.template(name)) is not None]
    index = WordIndex(
        {f"{one.type}{n}": template_texts(one) for n, one in zip(range(COMPONENTS), found * 40, strict=False)}
    )
    took = []
    for number in range(rounds):
        started = time.perf_counter()
        index.search(QUERIES[number % len(QUERIES)])
        took.append((time.perf_counter() - started) * 1000)
    middle, high = percentile(took, 0.5), percentile(took, 0.95)
    report.add(
        f"search over {COMPONENTS:,} components",
        f"{middle:.2f} ms",
        f"{high:.2f} ms",
        f"{SEARCH_MS:g} ms",
        "",
        "",
        values={"p50": middle, "p95": high, "aim": SEARCH_MS},
        bar=("search", middle / SEARCH_MS),
    )


async def _memory(report: Report, assistant: Assistant, turns: int) -> None:
    """Resident memory after a tenth, half and all of the turns, each in one of fifty conversations."""
    process, seen, marks = psutil.Process(), {}, (max(1, turns // 10), max(2, turns // 2), turns)
    for number in range(1, turns + 1):
        request = AssistRequest(input_value="build an echo", provider="scripted", session_id=f"s{number % 50}")
        await _turn(assistant, request)
        if number in marks:
            gc.collect()
            seen[number] = process.memory_info().rss / 1e6
    tenth, half, whole = seen.values()
    report.add(
        f"memory after {', '.join(f'{number:,}' for number in seen)} turns",
        f"{tenth:.0f}, {half:.0f}, {whole:.0f} MB",
        "",
        f"{GROWTH:g}x",
        "",
        f"{whole / tenth:.2f}x",
        values={"megabytes": seen, "growth": whole / tenth, "aim": GROWTH},
        bar=("memory, last over first", whole / tenth / GROWTH),
    )


if __name__ == "__main__":
    main()
