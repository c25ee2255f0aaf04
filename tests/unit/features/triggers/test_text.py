"""Triggers in the text of a flow."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from headgate.features.flows.transfer import export_flow, triggers_in
from headgate.features.triggers.schemas import TriggerIn
from headgate.features.triggers.settings import Config, Policies, TriggerInput, default_policies
from headgate.features.triggers.transfer import _CONFIGS, exported, read_triggers
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from headgate.graph.spec_lines import SpecError
from headgate.graph.spec_print import TRIGGER_PARTS
from tests.support.properties import cases
from tests.unit.graph.strategies import objects, texts

NEEDED: dict[str, dict[str, Any]] = {
    "schedule": {"cron": "0 7 * * MON"},
    "flow": {"flow_id": "0" * 36},
    "event": {"name": "paid"},
    "feed": {"url": "https://example.org"},
    "page": {"url": "https://example.org"},
    "api": {"url": "https://example.org"},
    "rows": {"connection": "db", "sql": "SELECT 1,\n  2", "cursor_column": "id"},
    "mail": {"connection": "inbox"},
    "stream": {"connection": "r", "stream": "s"},
    "queue": {"connection": "r", "queue": "s"},
    "topic": {"connection": "r", "topic": "s"},
}
PARTICULAR = {
    "redirect_url": st.just("https://example.org/a#b"),
    "headers": st.just({"ETag": "data.tag", "X-Note": "'a: b # c'"}),
    "status_from": st.just("data.status"),
    "body_from": st.just('{a: "b", c: `1`}'),
    "event_key": st.sampled_from(["header:X-Id", 'body:order."id" # 1']),
    "header": st.just("X-Signature"),
    "start": st.just("2027-01-01T00:00:00Z"),
    "closes_at": st.just("2027-01-01T00:00:00.5+01:00"),
    "holidays": st.just(["2027-12-24", "2027-12-25"]),
    "days": st.just("business"),
    "color": st.just("#112233"),
}


def values_of(name: str, annotation: Any) -> st.SearchStrategy[Any]:
    if name in PARTICULAR:
        return PARTICULAR[name]
    origin = get_origin(annotation)
    if origin is Annotated:
        return values_of("", get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return st.one_of([values_of("", option) for option in get_args(annotation)])
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if origin is list:
        return st.lists(values_of("", get_args(annotation)[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(texts, values_of("", get_args(annotation)[1]), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return st.deferred(lambda: settings_of(annotation, {}))
    simple = {bool: st.booleans(), int: st.integers(0, 5_000), float: st.floats(0, 500), NoneType: st.none()}
    return simple.get(annotation, texts)


@st.composite
def settings_of(draw: st.DrawFn, model: type[BaseModel], base: dict[str, Any]) -> dict[str, Any]:
    """Settings that the model allows: each is kept when all of them are valid with it."""
    values, fields = dict(base), dict[str, FieldInfo](model.model_fields)
    for name in draw(st.lists(st.sampled_from([name for name in fields if name != "kind"] or [""]), unique=True)):
        if name in fields:
            more = values | {name: draw(values_of(name, fields[name].annotation))}
            try:
                model.model_validate(more)
            except ValidationError:
                continue
            values = more
    return values


@st.composite
def triggers(draw: st.DrawFn) -> TriggerIn:
    kind = draw(st.sampled_from(sorted(_CONFIGS)))
    config = draw(settings_of(_CONFIGS[kind], NEEDED.get(kind, {}))) | {"kind": kind}
    policies = draw(st.one_of(st.none(), settings_of(Policies, {})))
    saved = {"text": draw(texts.filter(lambda text: "\0" not in text)), "form_data": draw(objects)}
    try:
        saved = TriggerInput.model_validate(saved).model_dump()
    except ValidationError:
        saved = {}
    name = draw(st.one_of(st.sampled_from(["Every morning", "a: b", '"x"', "# no"]), st.text('ab -:"', min_size=1)))
    body = {"name": name, "config": config, "policies": policies, "input": saved, "enabled": False}
    try:
        return TriggerIn.model_validate(body)
    except ValidationError:
        return TriggerIn.model_validate(body | {"name": "Nightly"})


Parts = tuple[str, Config, Policies, TriggerInput]


def parts_of(trigger: TriggerIn) -> Parts:
    return trigger.name, trigger.config, trigger.policies or default_policies(trigger.config), trigger.input


def text_of(*given: TriggerIn) -> str:
    return export_flow(Flow(name="F"), format="spec", triggers=[exported(*parts_of(trigger)) for trigger in given])


@cases(150)
@given(st.lists(triggers(), max_size=3, unique_by=lambda trigger: trigger.name))
def test_are_the_same_after_the_text(given: list[TriggerIn]) -> None:
    text = text_of(*given)
    read = list(read_triggers(triggers_in(text)).values())
    assert [parts_of(trigger) for trigger in read] == [parts_of(trigger) for trigger in given]
    assert text_of(*read) == text


def test_of_every_kind_are_written() -> None:
    for kind, model in _CONFIGS.items():
        trigger = TriggerIn.model_validate({"name": "T", "config": {"kind": kind} | NEEDED.get(kind, {})})
        assert not set(TRIGGER_PARTS) & set(model.model_fields)
        assert read_triggers(triggers_in(text_of(trigger))) == {0: trigger.model_copy(update={"enabled": False})}


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("  a: schedul", "line 2: 'schedul' is not a kind of trigger"),
        ("  Every morning: manual", 'Put the name in quotes: "Every morning": manual'),
        ("  a: manual\n    kind: event", "line 3: the kind is not a setting"),
        ("  a: webhook\n    secret: abcdefgh", "line 3: unknown name 'secret'"),
        ("  a: webhook\n    response:\n      statsu: 3", "line 4: unknown name 'statsu'; did you mean 'status'?"),
        ("  a: event\n    name: 7", "line 3: 'name' is a text"),
        ("  a: manual\n    policies:\n      overlap: skipp", "line 4: 'overlap' cannot be 'skipp'"),
        ("  a: manual\n    policies: yes", "line 3: 'policies' has no settings"),
        ('  a: manual\n    input:\n      file_ids: ["x"]', "line 4: files are not part of the text"),
        ("  a: schedule\n    cron: 0 7 * * *\n    end: later", "line 4: 'end'"),
        ("  a: rows\n    sql: SELECT 1", "line 2: 'connection' is missing"),
    ],
)
def test_faults_have_a_line_and_a_remedy(lines: str, fault: str) -> None:
    with pytest.raises(SpecError) as raised:
        read_triggers(triggers_in(f"triggers:\n{lines}\n"))
    assert fault in " ".join(raised.value.lines())


def test_are_refused_where_nothing_adds_them() -> None:
    with pytest.raises(SpecError, match="line 1: triggers are not added from this text"):
        parse_spec(text_of(TriggerIn.model_validate({"name": "T", "config": {"kind": "manual"}})).split("\n", 1)[1])
