"""The picture of a flow: well-formed, with nothing in it that acts, whatever people called things."""

import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.graph.model import Edge, Flow, Node, Position, StepPolicy
from headgate.graph.picture import BOX_HEIGHT, BOX_WIDTH, Shown, picture

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {f"{SVG}{name}" for name in ("svg", "title", "g", "rect", "path", "text")}
ATTRIBUTES = {
    *("width", "height", "viewBox", "role", "font-family", "fill", "stroke", "stroke-width", "stroke-linecap"),
    *("stroke-dasharray", "d", "x", "y", "rx", "transform", "font-size", "font-weight", "text-anchor"),
}
HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "]]></title><image href='http://evil.example/x'/>",
            '" onload="alert(1)',
            "&xxe;<!ENTITY xxe SYSTEM 'file:///etc/passwd'>",
            "\x00\x08\ufffe\u202e",
            "日本語のとても長い名前" * 5,
        ]
    ),
)
NODES = [
    Node(id="question", type="ChatInput", position=Position(x=0, y=0)),
    Node(id="answer", type="AIStep", label="The answer", position=Position(x=380, y=0)),
    Node(
        id="report",
        type="AIStep",
        position=Position(x=760, y=0),
        policy=StepPolicy.model_validate({"input_source": "all_previous_steps"}),
    ),
    Node(id="llm", type="LanguageModel", position=Position(x=324, y=300)),
]
EDGES = [
    Edge(source="question", output="message", target="answer", input="input"),
    Edge(source="answer", output="text", target="report", input="input"),
    Edge(source="llm", output="model", target="answer", input="model"),
]
FLOW = Flow(name="A flow", nodes=tuple(NODES), edges=tuple(EDGES))


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)


@settings(max_examples=150, deadline=None)
@given(name=HOSTILE, label=HOSTILE, note=HOSTILE, detail=HOSTILE, chip=HOSTILE)
def test_whatever_things_are_called_it_is_well_formed_and_acts_nowhere(
    name: str, label: str, note: str, detail: str, chip: str
) -> None:
    nodes = (
        Node.model_construct(**{**dict(NODES[0]), "label": label}),
        Node.model_construct(**{**dict(NODES[1]), "id": "note", "type": "Note", "params": {"text": note}}),
    )
    flow = Flow.model_construct(**{**dict(FLOW), "name": name, "nodes": nodes})
    shown = {"question": Shown(status="failed", detail=detail, chip=chip)}
    for columns in (None, 3):
        for element in parsed(picture(flow, shown=shown, title=name, columns=columns)).iter():
            assert element.tag in ALLOWED
            assert set(element.attrib) <= ATTRIBUTES


def test_it_names_every_node_and_draws_every_edge() -> None:
    root = parsed(picture(FLOW))
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"question", "The answer", "report", "llm"} <= set(words)
    paths = list(root.iter(f"{SVG}path"))
    dashes = [path.get("stroke-dasharray") for path in paths]
    assert sorted(dashes, key=str) == ["2 5", "9 6", None, None]


def test_what_became_of_a_step_is_seen_and_read() -> None:
    svg = picture(FLOW, shown={"answer": Shown("failed", "the model did not answer", "K3")})
    assert "the model did not answer" in svg
    assert ">K3<" in svg
    assert "#c22f2a" in svg
    assert "#c22f2a" not in picture(FLOW)


def test_boxes_of_a_long_flow_fold_into_the_width_of_a_page_without_overlap() -> None:
    nodes = tuple(Node(id=f"step_{number}", type="AIStep") for number in range(11))
    edges = tuple(
        Edge(source=f"step_{number}", output="text", target=f"step_{number + 1}", input="input") for number in range(10)
    )
    root = parsed(picture(Flow(nodes=nodes, edges=edges), columns=3))
    assert float(root.attrib["width"]) < 3 * 310 + 48
    corners = []
    for group in root.iter(f"{SVG}g"):
        x, y = group.attrib["transform"].removeprefix("translate(").removesuffix(")").split()
        corners.append((float(x), float(y)))
    assert len(set(corners)) == 11
    for number, (left, top) in enumerate(corners):
        for other_left, other_top in corners[number + 1 :]:
            assert abs(left - other_left) >= BOX_WIDTH or abs(top - other_top) >= BOX_HEIGHT


def test_the_same_flow_gives_the_same_text_and_an_empty_one_a_picture() -> None:
    assert picture(FLOW) == picture(FLOW)
    assert parsed(picture(Flow())).tag == f"{SVG}svg"
