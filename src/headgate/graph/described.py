"""What is known of a step's output before it runs, from a description that nobody enforces; differences are warnings.

A description is a JSON Schema of any draft. Here it is read in the form of contracts, as far as that has words for it:
what it has none for is open, `{}`, and anything fits it.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from headgate.graph.check_graph import named
from headgate.graph.contracts import compatible
from headgate.graph.interpolate import Reference, references
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.json_schema import TYPES, Schema
from headgate.graph.mentions import mentions
from headgate.graph.model import InputSource, Node
from headgate.graph.names import did_you_mean, listed, sentence
from headgate.graph.wiring import MAIN_OUTPUT, Wiring

Described = Mapping[str, Schema]
"""Step to the schema of its main output, in the form of contracts."""
MOST_LEVELS = 8
MOST_PARTS = 2_000
"""Schemas in one description; further ones are open."""


def contract_form(schema: JsonValue) -> dict[str, JsonValue]:
    """Return a JSON Schema as a contract's: references followed, `allOf` merged, alternatives open except null."""
    definitions = schema.get("$defs") if isinstance(schema, dict) else None
    return _Reader(definitions if isinstance(definitions, dict) else {}).read(schema, 0)


class _Reader:
    """Reads one description."""

    def __init__(self, definitions: Mapping[str, JsonValue]) -> None:
        self._definitions = definitions
        self._left = MOST_PARTS

    def read(self, schema: JsonValue, level: int) -> dict[str, JsonValue]:
        self._left -= 1
        if not isinstance(schema, dict) or level > MOST_LEVELS or self._left < 0:
            return {}
        if isinstance(reference := schema.get("$ref"), str):
            return self.read(self._definitions.get(reference.removeprefix("#/$defs/")), level + 1)
        if isinstance(parts := schema.get("allOf"), list):
            return self._merged([{key: value for key, value in schema.items() if key != "allOf"}, *parts], level)
        if isinstance(options := schema.get("anyOf") or schema.get("oneOf"), list):
            return self._alternative(options, level)
        return self._plain(schema, level)

    def _plain(self, schema: Mapping[str, JsonValue], level: int) -> dict[str, JsonValue]:
        plain: dict[str, JsonValue] = {}
        types = schema.get("type")
        known: list[JsonValue] = [name for name in (types if isinstance(types, list) else [types]) if name in TYPES]
        if known:
            plain["type"] = known[0] if len(known) == 1 else known
        elif "properties" in schema or "items" in schema:
            plain["type"] = "object" if "properties" in schema else "array"
        if isinstance(choices := schema.get("enum"), list) and choices:
            plain["enum"] = choices
        if isinstance(members := schema.get("properties"), dict):
            plain["properties"] = {name: self.read(inner, level + 1) for name, inner in members.items()}
        if isinstance(required := schema.get("required"), list) and "properties" in plain:
            plain["required"] = [name for name in required if isinstance(name, str)]
        if "items" in schema:
            plain["items"] = self.read(schema["items"], level + 1)
        more = schema.get("additionalProperties")
        if isinstance(more, bool | dict):
            plain["additionalProperties"] = more if isinstance(more, bool) else self.read(more, level + 1)
        return plain

    def _merged(self, parts: list[JsonValue], level: int) -> dict[str, JsonValue]:
        """Return one schema for all parts: the members of each."""
        merged: dict[str, JsonValue] = {}
        for part in (self.read(part, level) for part in parts):
            for name in ("properties", "required"):
                have, more = merged.get(name), part.get(name)
                if isinstance(have, dict) and isinstance(more, dict):
                    part[name] = {**have, **more}
                elif isinstance(have, list) and isinstance(more, list):
                    part[name] = [*have, *(each for each in more if each not in have)]
            merged |= part
        return merged

    def _alternative(self, options: list[JsonValue], level: int) -> dict[str, JsonValue]:
        """Return the only alternative to null; open when there are several."""
        parts = [option for option in options if option != {"type": "null"}]
        if len(parts) != 1:
            return {}
        part = self.read(parts[0], level)
        types = part.get("type")
        if len(options) > 1 and isinstance(types, str) and types != "null":
            part |= {"type": [types, "null"]}
            if isinstance(choices := part.get("enum"), list):
                part["enum"] = [*choices, None]
        return part


def described_issues(wiring: Wiring, described: Described) -> Iterator[Issue]:
    """Yield warnings where what is described differs from an input contract, or has not what a reference names."""
    if not described:
        return
    aliases = wiring.aliases
    for key, node in wiring.nodes.items():
        if key in wiring.notes:
            continue
        yield from _gaps(wiring, node, described, aliases)
        for mention in mentions(node, wiring.templates[key]):
            place = _place(wiring, mention.reference, described, aliases)
            fault = None if place is None else _undescribed(mention.reference, *place)
            if fault is not None:
                message = sentence(f"'{mention.field}' of {named(node)}: {fault[0]}")
                yield Issue(IssueCode.UNRESOLVED_REFERENCE, message, fault[1], key, mention.field, severity="warning")


def _gaps(wiring: Wiring, taker: Node, described: Described, aliases: Mapping[str, str]) -> Iterator[Issue]:
    """Compare what reaches the main input, over edges or by a binding, with the step's input contract."""
    template, required = wiring.templates[taker.id], taker.policy.input_contract
    if template is None or template.main_field is None or required is None:
        return
    field = template.main_field.name
    binding = taker.policy.input_bindings.get(field, "").strip()
    arriving: list[tuple[str, Schema, str]] = []
    for reference in references(binding):
        place = (
            _place(wiring, reference, described, aliases) if reference.end - reference.start == len(binding) else None
        )
        inner = None if place is None else member_at(place[1], reference.path[2:])
        arriving = [] if place is None or inner is None else [(place[0], inner, "")]
    if not binding and taker.policy.input_source is InputSource.PREVIOUS_STEP:
        arriving = [
            (wire.edge.source, described[wire.edge.source], wire.edge.id)
            for wire in wiring.data_into(taker.id)
            if wire.edge.input == field
            and wire.edge.source in described
            and _is_main(wiring, wire.edge.source, wire.edge.output)
        ]
    for source, schema, edge in arriving:
        for gap in compatible({"type": "json", "schema": dict(schema)}, required, lenient=True):
            yield Issue(
                IssueCode.INCOMPATIBLE,
                f"the output of '{source}', as described, may not satisfy the input contract of '{taker.id}': {gap}.",
                f"Change the contract, or set an output contract for '{source}' if the description is wrong.",
                taker.id,
                "input_contract",
                edge,
                severity="warning",
            )


def _place(
    wiring: Wiring, reference: Reference, described: Described, aliases: Mapping[str, str]
) -> tuple[str, Schema] | None:
    """Return the step whose described main output a reference names, and its schema."""
    step = wiring.step_named(reference.root, aliases) or ""
    if step not in described or len(reference.path) < 2 or not _is_main(wiring, step, reference.path[1]):
        return None
    return step, described[step]


def _is_main(wiring: Wiring, step: str, output: str) -> bool:
    template = wiring.templates[step]
    main = template.main_output if template is not None else None
    return main is not None and output in {main.name, MAIN_OUTPUT}


def _undescribed(reference: Reference, step: str, schema: Schema) -> tuple[str, str] | None:
    """Return message and remedy for the first member on a path that the description has not."""
    path = reference.path[2:]
    for number, segment in enumerate(path):
        members = schema.get("properties")
        names = list(members) if isinstance(members, dict) else []
        is_closed = names and "items" not in schema and schema.get("additionalProperties", False) is False
        if is_closed and segment not in names:
            missing, hint = ".".join(path[: number + 1]), did_you_mean(segment, names)
            return (
                f"{reference} refers to '{missing}', which the described output of '{step}' does not have{hint}",
                f"Described there: {listed(names, most=20)}.",
            )
        inner = member_at(schema, (segment,))
        if inner is None:
            return None
        schema = inner
    return None


def member_at(schema: Schema, path: tuple[str, ...]) -> Schema | None:
    """Return the schema of the value at a path; None when the description does not say."""
    for segment in path:
        members = schema.get("properties")
        inner = members.get(segment) if isinstance(members, dict) else None
        if inner is None and segment.isascii() and segment.isdigit():
            inner = schema.get("items")
        if not isinstance(inner, dict):
            return None
        schema = inner
    return schema
