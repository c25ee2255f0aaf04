"""Slots of one step: a model or connection that only so many steps may use at the same time."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.limits import Slots
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.steps.waits import Suspended
from headgate.features.runs.waiting import WaitReason
from headgate.sdk import Model
from headgate.sdk.connections import Connection

if TYPE_CHECKING:
    from headgate.features.runs.steps.context import StepContext


class StepSlots:
    """Takes slots, and records the limits in the log of the step, once for each attempt."""

    def __init__(self, slots: Slots, origin: Origin, ctx: "StepContext") -> None:
        self._slots = slots
        self._origin = origin
        self._ctx = ctx
        self._recorded: set[str] = set()

    async def take_model(self, model: Model) -> None:
        """Take a slot of a model, where that has a limit. Raises `Suspended` until one is free."""
        most = await patiently(lambda: self._slots.most_of_model(self._origin, model))
        await self._take(
            lambda most: self._slots.take_model(self._origin, model, most),
            f"call the model {model.provider}/{model.name}",
            most,
            model=f"{model.provider}/{model.name}",
        )

    async def take_connection(self, connection: Connection) -> None:
        """Take a slot of a connection, where that has a limit. Raises `Suspended` until one is free."""
        await self._take(
            lambda most: self._slots.take_connection(self._origin, connection.id, most),
            f"use the connection {connection.name}",
            connection.max_concurrent,
            connection=connection.name,
        )

    async def _take(self, take: Callable[[int], Awaitable[bool]], use: str, most: int | None, **of: str) -> None:
        if most is None:
            return
        if not await patiently(lambda: take(most)):
            raise Suspended(WaitReason.SLOT, None)
        if use not in self._recorded:
            self._recorded.add(use)
            self._ctx.log(f"Steps that {use} at the same time: {most} at most.", limit=most, **of)
