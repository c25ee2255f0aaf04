"""Hypothesis strategies: any flow the model allows, and sound flows over the palette."""

from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.foundation.names import name_from
from headgate.graph.model import (
    Edge,
    Flow,
    FlowSettings,
    FormField,
    HttpCall,
    InputSource,
    InputType,
    Node,
    OutputType,
    Position,
    StepPolicy,
)
from tests.support.properties import cases
from tests.unit.graph.wires import edge

SOME = cases(40)
"""For properties of whole flows, which take long to make up."""

TRICKY = (
    "", " ", "\n", "\n\n", "a\n", "a\n\n", "\na", " a\nb", "  a\n  b\n", "a\n  \nb", "a\n  ", "a\t", "\ta\n\tb",
    "#a", "a # b", "- a", "-", "a: b", "a:", "|", "|+", "|2", "> a", "true", "null", "1", "1.10", "007", "0.5", "-0",
    "1e5", "1e+16", "nan", "[a]", "[1]", "{}", "{",
    "[", "{{a.output}}", "{name} says", '{"a": 1,}', '["', '"', '"a"', '"a" b',
    "\\", "\\n", "a\rb", "\r\n", "\x85", "\u2028", "\u202e", "\ufeff", "\x7f", "é", "😀", "हिन्दी", "a -> b", "'a'",
    "&a", "*a", "!a", "%a", "@a", "`a`",
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
    st.text(st.sampled_from(" \n\t#:|-\"'{}[]a1.+"), max_size=12),
)
names_of_flows = texts.map(lambda text: name_from(text, longest=200, otherwise="Untitled flow"))
numbers = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(texts, inner, max_size=5)),
    max_leaves=12,
)
objects = st.dictionaries(texts, json_values, max_size=3)
ids = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
port_names = st.one_of(
    st.sampled_from(["label", "code", "policy", "params", "url"]),
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
)
type_names = st.from_regex(r"[A-Z][A-Za-z0-9]{0,8}", fullmatch=True)
calls = st.builds(
    HttpCall,
    url=texts,
    headers=st.dictionaries(texts, texts, max_size=3),
    body=texts,
    timeout_seconds=st.floats(0.1, 300),
)
policies = st.one_of(
    st.just(StepPolicy()),
    st.builds(
        StepPolicy,
        input_source=st.sampled_from(InputSource),
        input_type=st.sampled_from(InputType),
        input_config=st.none() | calls,
        input_contract=st.none() | objects,
        input_bindings=st.dictionaries(port_names, texts, max_size=3),
        output_mode=st.sampled_from(["pass_through", "http_post"]),
        output_type=st.sampled_from(OutputType),
        output_config=st.none() | calls,
        output_contract=st.none() | objects,
        output_classification_override=st.none() | st.integers(0, 4),
        tool_policy=st.sampled_from(["inherit", "restricted"]),
        tool_allowlist=st.lists(texts, max_size=3).map(tuple),
    ),
)
positions = st.builds(Position, x=st.integers(-2000, 2000).map(float), y=st.integers(-2000, 2000).map(float))


def nodes(node_id: str) -> st.SearchStrategy[Node]:
    return st.builds(
        Node,
        id=st.just(node_id),
        type=type_names,
        label=texts,
        position=positions,
        params=st.dictionaries(port_names, json_values, max_size=4),
        code=st.none() | texts,
        policy=policies,
    )


form_ids = st.sampled_from(["namn", "handläggare", "हिन्दी", "名前", "x1", "true", "null"])
options = st.lists(texts, min_size=1, max_size=3).map(tuple)


def form_fields(field_id: str) -> st.SearchStrategy[FormField]:
    plain = st.builds(
        FormField,
        id=st.just(field_id),
        label=texts,
        type=st.sampled_from(["text", "number", "checkbox", "date", "image", "file"]),
        required=st.booleans(),
    )
    choice = st.builds(
        FormField,
        id=st.just(field_id),
        type=st.sampled_from(["select", "multiselect"]),
        options=options,
        required=st.booleans(),
    )
    bounded = st.builds(
        FormField,
        id=st.just(field_id),
        type=st.sampled_from(["number", "text", "long_text"]),
        min=st.none() | st.integers(0, 3),
        max=st.none() | st.integers(4, 9),
    )
    return plain | choice | bounded


settings = st.builds(
    FlowSettings,
    widget=objects,
    icon=texts,
    data_retention_days=st.none() | st.integers(1, 10_000),
    input_classification=st.none() | st.integers(0, 4),
    require_tests=st.booleans(),
    required_trials=st.integers(1, 10),
)


@st.composite
def flows(draw: st.DrawFn, max_nodes: int = 6) -> Flow:
    """Any flow with unique ids; types, ports and edges are arbitrary, also wrong ones."""
    names = draw(st.lists(ids, max_size=max_nodes, unique=True))
    ends = st.sampled_from(names) if names else ids
    edges = st.builds(Edge, source=ends, output=port_names, target=ends | ids, input=port_names)
    return Flow(
        name=draw(names_of_flows),
        description=draw(texts),
        nodes=tuple(draw(nodes(name)) for name in names),
        edges=tuple(draw(st.lists(edges, max_size=8))),
        form=tuple(draw(form_fields(one)) for one in draw(st.lists(form_ids, max_size=3, unique=True))),
        settings=draw(settings),
    )


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12, *, cyclic: bool = False) -> Flow:
    """A flow of CombineText steps with tools and models here and there, its edges forming any graph."""
    count = draw(st.integers(0, max_nodes))
    kinds = draw(st.lists(st.sampled_from(["CombineText"] * 4 + ["Note"]), min_size=count, max_size=count))
    steps = [f"s{number}" for number, kind in enumerate(kinds) if kind != "Note"]
    made = [Node(id=f"s{number}", type=kind) for number, kind in enumerate(kinds)]
    pairs = [(a, b) for i, a in enumerate(steps) for b in (steps if cyclic else steps[i + 1 :]) if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=20, unique=True)) if pairs else []
    edges = [edge(f"{a}.text -> {b}.parts") for a, b in chosen]
    for number in range(draw(st.integers(0, 3)) if steps else 0):
        made += [Node(id=f"agent{number}", type="Agent"), Node(id=f"calc{number}", type="Calculator")]
        made.append(Node(id=f"llm{number}", type="LanguageModel"))
        edges.append(edge(f"calc{number}.tool -> agent{number}.tools"))
        edges.append(edge(f"llm{number}.model -> agent{number}.model"))
        edges.append(edge(f"{draw(st.sampled_from(steps))}.text -> agent{number}.input"))
    return Flow(nodes=tuple(draw(st.permutations(made))), edges=tuple(edges))
