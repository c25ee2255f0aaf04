"""Rehearses an upgrade: what changes in each component, and which flows would not be ready with the new code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.features.catalog.own.overlay import FlowCatalog
from headgate.features.catalog.own.store import known_components
from headgate.features.catalog.registry import Registry
from headgate.features.flows.packs.uses import FlowUse
from headgate.features.flows.readiness.check import check
from headgate.features.flows.rules import FlowRules
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.model import Flow
from headgate.graph.own_code import own_codes
from headgate.graph.template import Template


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A flow that uses the pack, and what would prevent it from running with the new code."""

    use: FlowUse
    problems: tuple[str, ...]


def changes_between(old: Mapping[str, Template], new: Sequence[CheckedComponent]) -> list[str]:
    """Return the changes of components, fields and outputs, one sentence each; old templates by type."""
    current = {component.type: component.template for component in new}
    lines = [f"{type_} is removed." for type_ in sorted(old.keys() - current.keys())]
    lines += [f"{type_} is new." for type_ in sorted(current.keys() - old.keys())]
    for type_ in sorted(old.keys() & current.keys()):
        lines += _changes(old[type_], current[type_])
    return lines


def updated(flow: Flow, hashes: Mapping[str, str], codes: Mapping[str, str]) -> Flow:
    """Return the flow with the new code in nodes of the pack; nodes of removed components stay.

    Args:
        flow: The flow.
        hashes: Hash of the pack's code, of any version, to its type.
        codes: Type to new code.
    """
    nodes = tuple(
        node.model_copy(update={"code": codes[node.type]})
        if node.code is not None and node.type in codes and code_hash(node.code) in hashes
        else node
        for node in flow.nodes
    )
    return flow.model_copy(update={"nodes": nodes})


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Checks flows with the new code of a pack.

    Args:
        rules: The readiness check.
        registry: The built-in components.
        hashes: Hash of the pack's code, of any version, to its type.
        new: The new components.
    """

    rules: FlowRules
    registry: Registry
    hashes: Mapping[str, str]
    new: Sequence[CheckedComponent]

    async def of(self, session: AsyncSession, use: FlowUse) -> Rehearsed:
        """Return the readiness errors that a flow would have with the new code and does not have now."""
        codes = {component.type: component.code for component in self.new}
        gone = sorted({self.hashes[key] for key in use.in_draft | use.in_published} - codes.keys())
        problems = tuple(f"{type_} is removed." for type_ in gone)
        before = Flow.model_validate({**use.draft, "name": use.name})
        after = updated(before, self.hashes, codes)
        if after == before:
            return Rehearsed(use, problems)
        known = await known_components(session, own_codes(before), tenant_id=use.tenant_id)
        environment = await self.rules.environment(use.tenant_id, use.space_id, session=session)
        old = await run_in_flow_thread(check, before, FlowCatalog(self.registry, known), environment)
        now = await run_in_flow_thread(check, after, FlowCatalog(self.registry, (*known, *self.new)), environment)
        had = {str(issue) for issue in old.errors}
        return Rehearsed(use, (*problems, *(issue.message for issue in now.errors if str(issue) not in had)))


def _changes(old: Template, new: Template) -> Iterator[str]:
    type_ = new.type
    before, after = ({field.name: field for field in template.fields} for template in (old, new))
    for name in sorted(before.keys() - after.keys()):
        yield f"{type_}: the field '{name}' is removed."
    for name in sorted(after.keys() - before.keys()):
        yield f"{type_}: the field '{name}' is new{' and required' if after[name].required else ''}."
    for name in sorted(before.keys() & after.keys()):
        if (before[name].kind, before[name].types) != (after[name].kind, after[name].types):
            yield f"{type_}: the field '{name}' has another type."
        elif after[name].required and not before[name].required:
            yield f"{type_}: the field '{name}' is now required."
    ports, new_ports = ({output.name: output.type for output in template.outputs} for template in (old, new))
    for name in sorted(ports.keys() - new_ports.keys()):
        yield f"{type_}: the output '{name}' is removed."
    for name in sorted(new_ports.keys() - ports.keys()):
        yield f"{type_}: the output '{name}' is new."
    for name in sorted(ports.keys() & new_ports.keys()):
        if ports[name] != new_ports[name]:
            yield f"{type_}: the output '{name}' has another type."
