"""Runs the tests of a pack's folder: cases with values and expected outputs, in the sandbox as in a flow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from headgate.features.catalog.own.check import SECONDS, CodeRunners
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.packs.errors import BadPack
from headgate.foundation.errors import HeadgateError
from headgate.graph.manifest import Manifest
from headgate.graph.template import FieldKind
from headgate.sdk import Table
from headgate.sdk.crossing import PRODUCE, pack


class Case(BaseModel):
    """One call of a component, and what it should return."""

    model_config = ConfigDict(extra="forbid")

    component: str
    values: dict[str, JsonValue] = {}
    outputs: dict[str, JsonValue] = {}
    not_taken: tuple[str, ...] = ()
    """Outputs whose branch should not be taken."""
    error: str = ""
    """Part of the error that should be raised."""


_CASES = TypeAdapter(list[Case])


def read_cases(folder: Path) -> list[Case]:
    """Return the cases of `tests/*.json` in a pack's folder. Raises `BadPack`."""
    cases: list[Case] = []
    for path in sorted((folder / "tests").glob("*.json")):
        try:
            cases += _CASES.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise BadPack(f"{path} is not a list of cases: {error}", remedy="See the guide for authors.") from error
    return cases


async def run_cases(
    cases: Sequence[Case], components: Sequence[CheckedComponent], sandbox: CodeRunners, tenant_id: str
) -> list[str]:
    """Return what failed, one sentence each. Components have no network and no files in their tests."""
    by_type = {component.type: component for component in components}
    failures = [f"{type_} has no test." for type_ in by_type if type_ not in {case.component for case in cases}]
    with sandbox.runner(tenant_id) as runner:
        for number, case in enumerate(cases, 1):
            component = by_type.get(case.component)
            if component is None:
                failures.append(f"Case {number}: the pack has no component {case.component}.")
                continue
            quiet = Manifest(imports=component.manifest.imports)
            try:
                raw = await runner.call_host(
                    component.code, PRODUCE, _arguments(component, case), manifest=quiet, timeout_seconds=SECONDS
                )
                outcome: JsonValue = cast("dict[str, Any]", raw)["outputs"]
            except HeadgateError as error:
                if not case.error or case.error not in str(error):
                    failures.append(f"Case {number} ({case.component}): {error}")
                continue
            failures += [f"Case {number} ({case.component}): {text}" for text in _differences(case, outcome)]
    return failures


def _arguments(component: CheckedComponent, case: Case) -> dict[str, JsonValue]:
    tables = {field.name for field in component.template.fields if field.kind is FieldKind.TABLE}
    values = {
        name: pack(Table.model_validate(value) if name in tables else value) for name, value in case.values.items()
    }
    names: list[JsonValue] = [output.name for output in component.template.outputs]
    empty: dict[str, JsonValue] = {"text": "", "form_data": {}, "files": [], "history": []}
    return {"values": cast("JsonValue", values), "outputs": names, "input": empty}


def _differences(case: Case, outcome: JsonValue) -> Iterator[str]:
    outputs = cast("dict[str, dict[str, JsonValue]]", outcome)
    if case.error:
        yield f"it should fail with '{case.error}', and succeeded."
        return
    for name in case.not_taken:
        if not outputs.get(name, {}).get("not_taken"):
            yield f"the branch '{name}' should not be taken."
    for name, expected in case.outputs.items():
        given = outputs.get(name, {}).get("value")
        if given != expected:
            yield f"'{name}' should be {str(expected)[:300]!r} and is {str(given)[:300]!r}."
