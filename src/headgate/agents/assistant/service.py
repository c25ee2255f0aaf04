"""One turn of the assistant, as a stream of events."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from headgate.agents.assistant import events
from headgate.agents.assistant.desk import Desk, RunsFlows
from headgate.agents.assistant.events import AssistEvent
from headgate.agents.assistant.schemas import AssistRequest, CheckConfig
from headgate.agents.assistant.turn import Turn
from headgate.features.access.caller import Again
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.graph.diff import diff_flows
from headgate.graph.model import Flow
from headgate.graph.validate import check_runnable
from headgate.toolkit import Workbench

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel

log = get_logger(__name__)


class ChoosesModels(Protocol):
    """Gives the chat model of a turn."""

    async def choose(
        self, principal: Principal, *, provider: str | None, name: str | None, bench: Workbench
    ) -> "tuple[BaseChatModel, str]":
        """The model and its name. Raises `Invalid` naming what is missing."""
        ...

    async def check_config(self, principal: Principal) -> CheckConfig:
        """Which providers are configured for this person."""
        ...

    def explain(self, error: Exception) -> HeadgateError:
        """What a provider's own error means to the person who asked."""
        ...


@dataclass(frozen=True, slots=True)
class Assistant:
    """The assistant of an installation; holds nothing of any request."""

    database: Database
    registry: Registry
    index: WordIndex
    models: ChoosesModels
    runs: RunsFlows

    async def open(self, principal: Principal, request: AssistRequest, again: Again | None = None) -> Desk:
        """Take the flow that a request is about; no model is asked. Raises `FlowNotFound`, `PermissionMissing`.

        `again` says who asks as things are later, when the turn changes something; without it nobody takes rights away
        from the asker.
        """
        desk = Desk(
            database=self.database,
            registry=self.registry,
            principal=principal,
            runs=self.runs,
            file_ids=request.file_ids,
            again=again,
        )
        await desk.open(request.flow_id or None)
        return desk

    async def stream(self, desk: Desk, request: AssistRequest) -> AsyncIterator[AssistEvent]:
        """Work on one request. Events come when they happen; closing the iterator cancels the model call.

        The last event is `complete`, `error` or `cancelled`.
        """
        queue: asyncio.Queue[AssistEvent | None] = asyncio.Queue()
        work = asyncio.create_task(self._work(desk, request, queue))
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            if not work.done():
                work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def answer(self, desk: Desk, request: AssistRequest) -> dict[str, Any]:
        """The same without a stream: the data of `complete`. Raises what the turn ended with."""
        queue: asyncio.Queue[AssistEvent | None] = asyncio.Queue()
        return await self._turn(desk, request, queue)

    async def _work(self, desk: Desk, request: AssistRequest, queue: asyncio.Queue[AssistEvent | None]) -> None:
        try:
            queue.put_nowait(events.complete(await self._turn(desk, request, queue)))
        except asyncio.CancelledError:
            queue.put_nowait(events.cancelled())
            raise
        except HeadgateError as error:
            queue.put_nowait(events.failed(error))
        except Exception:
            log.exception("turn failed")
            fault = HeadgateError("Headgate failed to answer; the log says why.", remedy="Try again, or report it.")
            queue.put_nowait(events.failed(fault))
        finally:
            queue.put_nowait(None)

    async def _turn(
        self, desk: Desk, request: AssistRequest, queue: asyncio.Queue[AssistEvent | None]
    ) -> dict[str, Any]:
        desk.on_event = lambda run_id, kind, data: queue.put_nowait(events.run_update(run_id, kind, data))
        principal, flow = desk.principal, desk.stored or Flow()
        bench = Workbench(
            principal=principal,
            space_id=desk.space_id,
            flow=flow,
            registry=Overlay(self.registry, self.index),
            runner=desk,
        )
        turn = Turn(request=request.input_value, principal=principal, bench=bench, emit=queue.put_nowait, before=flow)
        bench.on_action = turn.on_action
        turn.stage("generating_flow")
        model, turn.model_name = await self.models.choose(
            principal, provider=request.provider, name=request.model_name, bench=bench
        )
        try:
            result = await _load_loop().run_loop(model, turn)
        except HeadgateError:
            raise
        except Exception as error:
            raise self.models.explain(error) from error
        if request.apply and bench.flow != flow:
            await desk.save(bench.flow)
        return _completed(turn, desk, result)


def _load_loop() -> Any:  # noqa: ANN401 - the module
    """LangChain takes most of a second to import: the first request pays for it, not the start."""
    return import_module("headgate.agents.assistant.loop")


def _completed(turn: Turn, desk: Desk, result: str) -> dict[str, Any]:
    """What `complete` says. What was done is read from the flow, not from the model's words."""
    bench = turn.bench
    difference = diff_flows(turn.before, bench.flow)
    if not difference.is_empty and not bench.runs:
        turn.stage("flow_proposal_ready")
    data: dict[str, Any] = {
        "result": result,
        "validated": True,
        "declined": turn.declined,
        "model": turn.model_name,
        "changes": difference.lines(),
        "flow": bench.flow.model_dump(mode="json") if bench.changed else None,
        "flow_id": desk.flow_id,
        "revision": desk.revision,
        "saved": desk.stored == bench.flow,
        "kept_version": desk.kept_version,
        "issues": [issue.as_json() for issue in check_runnable(bench.flow, bench.registry)] if bench.changed else [],
        "usage": turn.usage.as_json(),
        "duration_seconds": round(turn.seconds, 3),
    }
    if bench.runs:
        last = bench.runs[-1]
        data["run_id"] = last.run_id
        data["run_status"] = last.status
        data["run_metrics"] = {
            "duration_seconds": last.duration_ms / 1000,
            "input_tokens": last.input_tokens,
            "output_tokens": last.output_tokens,
            "total_tokens": last.input_tokens + last.output_tokens,
        }
    log.info("turn completed", model=turn.model_name, seconds=data["duration_seconds"], **data["usage"])
    return data
