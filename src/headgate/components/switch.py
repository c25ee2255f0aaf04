"""The component that selects one of several branches."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue, PrivateAttr

from headgate.components.conditions import folded
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_field
from headgate.components.wording import listed_text
from headgate.graph.names import clipped, free_name
from headgate.graph.ports import PortType
from headgate.graph.template import TOOL_OUTPUT, OutputTemplate
from headgate.sdk import NOT_TAKEN, Component, Data, NotTaken, field
from headgate.sdk.coerce import data_of, text_of

MOST_CASES = 50
OTHERWISE = "otherwise"
_AROUND = " \t\r\n.,;:!?\"'`*()[]{}<>“”’«»"


class Switch(Component):
    """Sends a value one of several ways: the way of the case it equals, or `otherwise`. The value passes through."""

    label = "Switch"
    category = "logic"
    icon = "split"
    keywords = (
        "route", "router", "routing", "case", "cases", "choose", "branch", "category", "classify", "dispatch",
        "triage", "select", "multiple", "options", "path", "if else", "decision",
    )  # fmt: skip

    value: str | Data = field(label="Value", help="The value to check and pass on.", main=True)
    cases: Annotated[list[str], BeforeValidator(listed_text)] = field(
        label="Cases",
        help="One output per case, in this order, for example: urgent, normal.",
        port=False,
        interpolate=False,
        schema={"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_CASES},
    )
    field_path: str = field(
        default="",
        name="field",
        label="Field",
        help="JMESPath to the part to compare, for example category; empty compares the whole value.",
        port=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    match: Literal["equals", "contains"] = field(
        default="equals",
        label="Match",
        help=(
            "equals: the value is the case, ignoring letter case and punctuation; contains: the value "
            "contains the case."
        ),
    )
    _chosen: str | None = PrivateAttr(default=None)

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one branch per case, then `otherwise`."""
        cases = _cases(params.get("cases"))
        branches = [
            OutputTemplate(
                name=name,
                type=PortType.DATA,
                label=clipped(case),
                help=f"The value, when it is {clipped(case)}.",
                branch=True,
            )
            for case, name in zip(cases, output_names(cases), strict=True)
        ]
        otherwise = OutputTemplate(
            name=OTHERWISE,
            type=PortType.DATA,
            label="Otherwise",
            help="The value, when it is none of the cases.",
            branch=True,
        )
        return (*branches, otherwise)

    async def produce_extra(self, name: str) -> Data | NotTaken:
        """Return the value on the selected branch, `NOT_TAKEN` on the others."""
        if self._chosen is None:
            self._chosen = await self._choose()
        return data_of(self.value) if name == self._chosen else NOT_TAKEN

    async def _choose(self) -> str:
        """Return the output of the first matching case."""
        target = await select_field(self.ctx, data_of(self.value), self.field_path, subject="Switch")
        text = _bare("" if target is None else text_of(target))
        cases = _cases(list(self.cases))
        for case, name in zip(cases, output_names(cases), strict=True):
            expected = _bare(case)
            if text == expected or (self.match == "contains" and expected and expected in text):
                return name
        return OTHERWISE


def output_names(cases: Sequence[str], *, reserved: Sequence[str] = ()) -> list[str]:
    """Return the output name of each case: `Very urgent` is `very_urgent`; collisions are numbered."""
    names: list[str] = []
    for number, case in enumerate(cases, start=1):
        names.append(free_name(_slug(case) or f"case_{number}", [*names, OTHERWISE, TOOL_OUTPUT, *reserved]))
    return names


def _cases(value: object) -> list[str]:
    """Return the cases of a node's params, whatever their type: only texts, without blank ones, limited in number."""
    items = listed_text(value)
    texts = [item for item in items if isinstance(item, str) and item.strip()] if isinstance(items, list) else []
    return texts[:MOST_CASES]


def _slug(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "_", ascii_text).strip("_")[:60].rstrip("_")
    return f"case_{slug}" if slug[:1].isdigit() else slug


def _bare(text: str) -> str:
    """Return text for comparison: models answer `**Urgent.**` for urgent."""
    return folded(text.strip(_AROUND), ignore_case=True)
