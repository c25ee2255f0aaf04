"""Contracts: the declared inputs and outputs of a step.

A contract is `{"type": "json", "schema": {...}}` (see `json_schema` for the subset), or an envelope for other types. A
bare schema is read as the first form.

| member                     | of            | meaning                                                            |
|----------------------------|---------------|--------------------------------------------------------------------|
| `schema`                   | json          | the schema                                                         |
| `format`                   | text          | `plain`, `markdown` or `html`; compared, not checked               |
| `format`                   | kinds of file | media type, pattern or extension: `application/pdf`, `image/*`, `png` |
| `max_bytes`                | all but json  | maximum size: of the text in UTF-8, of each file                   |
| `min_length`, `max_length` | text          | characters                                                         |
| `max_count`                | kinds of file | maximum files in a list                                            |

The kinds of file are `image`, `audio`, `document` and `file`; a value is `{"id", "name", "media_type", "size"}` or a
list of these.
"""

import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from headgate.graph.json_schema import (
    TYPES,
    Violation,
    first_violations,
    json_type,
    schema_faults,
    schema_gaps,
    schema_violations,
)
from headgate.graph.model import OutputType, StepPolicy
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType

Contract = Mapping[str, JsonValue]
CONTRACT_TYPES = ("json", "text", "image", "audio", "document", "file")
FILE_TYPES = ("image", "audio", "document", "file")
AS_DATA = "data"
"""Output that returns a main output of JSON as an object."""
TEXT_FORMATS = ("plain", "markdown", "html")
_TEXT_MEMBERS = ("type", "format", "max_bytes", "min_length", "max_length")
_FILE_MEMBERS = ("type", "format", "max_bytes", "max_count")
_DOCUMENTS = ("application/pdf", "application/msword", "application/vnd.", "application/rtf", "text/")


def contract_outputs(policy: StepPolicy, main: str | None, outputs: Iterable[tuple[str, PortType]]) -> tuple[str, ...]:
    """Return the outputs that a step's output contract applies to, for the check and for the run.

    They are the main output and, when that is JSON, the output `data`, which returns the same as an object.
    """
    if policy.output_contract is None:
        return ()
    as_json = policy.output_type is OutputType.JSON
    return tuple(
        name for name, kind in outputs if name == main or (as_json and name == AS_DATA and kind is PortType.DATA)
    )


def canonical_contract(contract: Contract) -> dict[str, JsonValue]:
    """Return the contract in canonical form: a bare JSON Schema is wrapped, anything else is returned unchanged."""
    kind = contract.get("type")
    is_schema = (
        kind in TYPES or isinstance(kind, list) or (kind is None and ("properties" in contract or "enum" in contract))
    )
    return {"type": "json", "schema": dict(contract)} if is_schema else dict(contract)


def check_contract(contract: Contract) -> list[Violation]:
    """Return the faults of a contract itself; empty when it is valid."""
    canonical = canonical_contract(contract)
    kind = canonical.get("type")
    if kind not in CONTRACT_TYPES:
        hint = did_you_mean(str(kind), CONTRACT_TYPES)
        return [Violation("$.type", f"there is no contract type '{kind}'{hint or '.'} Types: {listed(CONTRACT_TYPES)}")]
    if kind == "json":
        unknown = _unknown_members(canonical, ("type", "schema"))
        return first_violations([*unknown, *schema_faults(canonical.get("schema", {}), "$.schema")])
    return list(_envelope_faults(canonical, _TEXT_MEMBERS if kind == "text" else _FILE_MEMBERS))


def violations(value: JsonValue, contract: Contract) -> list[Violation]:
    """Return the violations of a contract with JSON paths; empty when the value is valid. At most 20, without values.

    Raises `ValueError` when the contract itself is invalid; check it first with `check_contract`.
    """
    faults = check_contract(contract)
    if faults:
        raise ValueError(f"faulty contract: {faults[0]}")
    canonical = canonical_contract(contract)
    kind = canonical["type"]
    if kind == "json":
        schema = canonical.get("schema", {})
        return schema_violations(value, schema if isinstance(schema, dict) else {})
    if kind == "text":
        return list(_text_violations(value, canonical))
    return first_violations(list(_file_violations(value, canonical)))


def compatible(given: Contract | None, required: Contract | None, *, lenient: bool = False) -> list[Violation]:
    """Return why an output contract may not satisfy an input contract; empty when it always does.

    With `lenient`, a part that `given` leaves open fits: see `schema_gaps`.

    When either is missing there is nothing to compare, and the value is checked at run time.
    """
    if given is None or required is None or check_contract(given) or check_contract(required):
        return []
    have, want = canonical_contract(given), canonical_contract(required)
    if have["type"] == want["type"] == "json":
        return first_violations(list(schema_gaps(_schema(have), _schema(want), lenient=lenient)))
    if have["type"] != want["type"] and (have["type"], want["type"]) not in _WIDENS:
        return [Violation("$", f"must be {want['type']}, but is {have['type']}")]
    return list(_envelope_gaps(have, want))


def part_of(contract: Contract, path: Sequence[str]) -> Contract | None:
    """Return the contract of the value at a path inside a contract; None when it does not define one."""
    canonical = canonical_contract(contract)
    if canonical.get("type") != "json":
        return canonical if not path else None
    schema: JsonValue = canonical.get("schema", {})
    for segment in path:
        schema = _inner(schema, segment)
    return {"type": "json", "schema": schema} if isinstance(schema, dict) and schema else None


def missing_member(contract: Contract, path: Sequence[str]) -> str | None:
    """Return the first member on a path that no valid value has; None when there may be one."""
    schema: JsonValue = canonical_contract(contract).get("schema")
    for number, segment in enumerate(path):
        if not isinstance(schema, dict):
            return None
        members = schema.get("properties")
        known = members if isinstance(members, dict) else {}
        if schema.get("type") == "object" and schema.get("additionalProperties") is False and segment not in known:
            return ".".join(path[: number + 1])
        schema = _inner(schema, segment)
    return None


def _inner(schema: JsonValue, segment: str) -> JsonValue:
    """Return the schema of a member, or of an item of a list; None when it is not defined."""
    if not isinstance(schema, dict):
        return None
    members = schema.get("properties")
    if isinstance(members, dict) and segment in members:
        return members[segment]
    return schema.get("items") if segment.isascii() and segment.isdigit() else None


_WIDENS = {("json", "text"), ("image", "file"), ("audio", "file"), ("document", "file")}
"""Pairs where every value of the first is valid for the second."""


def _unknown_members(contract: Contract, known: tuple[str, ...]) -> list[Violation]:
    return [
        Violation(
            "$",
            f"a {contract['type']} contract has no '{name}'{did_you_mean(name, known) or '.'} Members: {listed(known)}",
        )
        for name in contract
        if name not in known
    ]


def _envelope_faults(contract: Contract, known: tuple[str, ...]) -> Iterator[Violation]:
    yield from _unknown_members(contract, known)
    for name in ("max_bytes", "min_length", "max_length", "max_count"):
        limit = contract.get(name, 1)
        if name in known and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
            yield Violation(f"$.{name}", "must be a whole number, 0 or more")
    form = contract.get("format", "plain")
    if not isinstance(form, str) or not form:
        yield Violation("$.format", "must be text")
    elif contract["type"] == "text" and form not in TEXT_FORMATS:
        hint = did_you_mean(form, TEXT_FORMATS)
        yield Violation("$.format", f"there is no text format '{form}'{hint or '.'} Formats: {listed(TEXT_FORMATS)}")
    low, high = _limit(contract, "min_length"), _limit(contract, "max_length")
    if low is not None and high is not None and low > high:
        yield Violation("$.min_length", f"is over max_length ({high})")


def _text_violations(value: JsonValue, contract: Contract) -> Iterator[Violation]:
    if not isinstance(value, str):
        yield Violation("$", f"must be a text, not {json_type(value)}")
        return
    low, high, most = (_limit(contract, name) for name in ("min_length", "max_length", "max_bytes"))
    if low is not None and len(value) < low:
        yield Violation("$", f"must have at least {low} characters, has {len(value)}")
    if high is not None and len(value) > high:
        yield Violation("$", f"must have at most {high} characters, has {len(value)}")
    size = len(value.encode(errors="surrogatepass"))
    if most is not None and size > most:
        yield Violation("$", f"must have at most {most} bytes, has {size}")


def _file_violations(value: JsonValue, contract: Contract) -> Iterator[Violation]:
    files = value if isinstance(value, list) else [value]
    limit = _limit(contract, "max_count")
    if limit is not None and len(files) > limit:
        yield Violation("$", f"must be at most {limit} files, are {len(files)}")
    for number, file in enumerate(files):
        path = f"$[{number}]" if isinstance(value, list) else "$"
        if isinstance(file, dict) and "media_type" in file:
            yield from _one_file(file, contract, path)
        else:
            yield Violation(path, f"must be a file, not {json_type(file)}")


def _one_file(file: Mapping[str, JsonValue], contract: Contract, path: str) -> Iterator[Violation]:
    media_type = str(file["media_type"]).partition(";")[0].strip().lower()
    kind = str(contract["type"])
    if not _of_kind(media_type, kind):
        yield Violation(f"{path}.media_type", f"must be of {_article(kind)}, is {media_type}")
    form = contract.get("format")
    if isinstance(form, str) and not _matches(media_type, str(file.get("name", "")), form):
        yield Violation(f"{path}.media_type", f"must be {form}, is {media_type}")
    most, size = _limit(contract, "max_bytes"), file.get("size")
    if most is not None and isinstance(size, int) and size > most:
        yield Violation(f"{path}.size", f"must be at most {most} bytes, is {size}")


def _of_kind(media_type: str, kind: str) -> bool:
    if kind == "document":
        return media_type.startswith(_DOCUMENTS)
    return kind == "file" or media_type.startswith(f"{kind}/")


def _matches(media_type: str, name: str, form: str) -> bool:
    pattern = form.lower()
    if "/" not in pattern:
        return name.lower().endswith("." + pattern.lstrip(".")) or media_type == mimetypes.types_map.get("." + pattern)
    return media_type.startswith(pattern[:-1]) if pattern.endswith("/*") else media_type == pattern


def _envelope_gaps(given: Contract, required: Contract) -> Iterator[Violation]:
    form = required.get("format")
    if form is not None and given.get("format") != form and given["type"] != "json":
        yield Violation("$.format", f"must be {form}, but is {given.get('format', 'any')}")
    for name in ("max_bytes", "max_length", "max_count"):
        most, may = _limit(required, name), _limit(given, name)
        if most is not None and (may is None or may > most):
            yield Violation(f"$.{name}", f"must be at most {most}, but may be {'more' if may is None else may}")
    least, may = _limit(required, "min_length"), _limit(given, "min_length")
    if least is not None and (may or 0) < least:
        yield Violation("$.min_length", f"must be at least {least}, but may be {may or 0}")


def _limit(contract: Contract, name: str) -> int | None:
    value = contract.get(name)
    return value if isinstance(value, int) else None


def _schema(contract: Contract) -> dict[str, JsonValue]:
    schema = contract.get("schema")
    return schema if isinstance(schema, dict) else {}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
