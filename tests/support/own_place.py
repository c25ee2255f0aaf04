"""Headgate's own flows as a place of the development agent, and one change as the journal would make it."""

from typing import Any

from headgate.agents.codev.domain import Answer, Change, DomainTool, Held, Workplace
from headgate.agents.codev.domains.headgate.domain import HeadgateDomain
from headgate.agents.codev.domains.headgate.workplace import HeadgateWorkplace
from headgate.entrypoints.compose import Parts
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.foundation.ids import new_id
from headgate.graph.model import Flow
from headgate.toolkit.stored.visit import Studio

GREETING = """
name: Greeting
description: Greets whoever writes
nodes:
  who: ChatInput
  words: PromptTemplate
    template: Hello {text}!
  out: ChatOutput
edges:
  who.text -> words.text
  words.text -> out.input
"""


def domain_of(parts: Parts, **more: Any) -> HeadgateDomain:
    """The domain on an installation's parts."""

    async def catalog_of(principal: Principal, flow: Flow) -> Overlay:
        return Overlay(parts.registry, parts.index, await parts.workshop.components.own_components(principal, flow))

    studio = Studio(
        database=parts.database,
        registry=parts.registry,
        index=parts.index,
        rules=parts.rules,
        engine=parts.engine,
        notary=parts.notary,
        runs=parts.runs,
        catalog_of=catalog_of,
    )
    return HeadgateDomain(studio, parts.development_keys, parts.box, parts.local_models, **more)


async def open_place(parts: Parts, principal: Principal = LOCAL, space_id: str = "", **more: Any) -> HeadgateWorkplace:
    """A workplace there."""
    return await domain_of(parts, **more).open(principal, space_id, "")


def tool(place: Workplace, name: str) -> DomainTool:
    """The tool of that name."""
    return next(one for one in place.tools if one.name == name)


async def ask(place: Workplace, name: str, /, **arguments: Any) -> Answer:
    """What a tool that reads answers."""
    reads = tool(place, name).read
    assert reads is not None
    return await reads(arguments)


async def wanted(place: Workplace, name: str, held: Held | None, /, **arguments: Any) -> Change | Answer:
    """What a tool that writes would do."""
    changes = tool(place, name).change
    assert changes is not None
    return await changes(held, arguments)


async def changed(place: Workplace, name: str, held: Held | None, /, *, token: str = "", **arguments: Any) -> Held:
    """The flow after a tool wrote, checked before as the journal checks."""
    change = await wanted(place, name, held, **arguments)
    assert isinstance(change, Change), change
    assert list(place.preflight(change)) == []
    return await place.write(change, held, token or new_id())
