"""An inventory is never emptier than its file: whatever is planted anywhere in a flow is listed."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.runs.preview.inventory import Inventory, inventory_of
from headgate.graph.model import Flow, FormField, Node
from headgate.graph.template import FieldKind, Template

CATALOG = Registry(BUILTINS)
SECRET_FIELDS = [
    (template.type, field.name)
    for template in CATALOG.templates()
    for field in template.fields
    if field.kind is FieldKind.SECRET
]
CODE = "class Own(Component):\n    def told(self):\n        return {body}\n"
names = st.from_regex(r"[A-Z]{3,8}_[A-Z0-9]{2,8}", fullmatch=True)
words = st.from_regex(r"[a-z]{3,10}", fullmatch=True)
hosts = st.builds("{}.{}.example".format, words, words)
urls = st.builds("{}://{}/{}".format, st.sampled_from(["https", "http", "wss", "ftp", "postgresql"]), hosts, words)
ordinary = st.sampled_from(["ChatInput", "HTTPRequest", "URL", "Unheard", "Elsewhere"])


@st.composite
def places(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value somewhere inside another."""
    for _ in range(draw(st.integers(0, 3))):
        name = draw(words)
        value = draw(st.sampled_from([{name: value}, [value], ["x", value], {name: value, "other": 1}]))
    return value


@st.composite
def nodes_with(draw: st.DrawFn, value: Any) -> Node:
    """A node of any component, known or not, with a value somewhere in its params, alone or next to own code."""
    own = draw(st.booleans())
    return Node(
        id="n",
        type=draw(ordinary),
        code=CODE.format(body="1") if own else None,
        params={draw(words): draw(places(value))},
    )


def template_of(node: Node) -> Template | None:
    return None if node.code is not None else CATALOG.template(node.type, node.params)


def found_in(*nodes: Node, **members: Any) -> Inventory:
    """The inventory of a flow of these nodes, and one whose code nobody here knows."""
    strange = Node(id="strange", type="Strange", code=CODE.format(body="'x'"))
    return inventory_of(Flow(nodes=(strange, *nodes), **members), template_of)


class TestInventory:
    @given(urls, st.data())
    def test_lists_every_url_of_a_param_with_its_host(self, url: str, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(["{}", "see {} for more", "({})", "<a href='{}'>", "a,{}"])).format(url)
        found = found_in(data.draw(nodes_with(text)))
        assert url in found.urls
        assert url.split("/")[2] in found.hosts

    @given(urls, st.data())
    def test_lists_urls_wherever_a_text_is(self, url: str, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(["label", "code", "key", "prompt", "form", "settings", "description", "call"]))
        node = Node(id="n", type="ChatInput")
        members: dict[str, Any] = {}
        if name == "label":
            node = Node(id="n", type="ChatInput", label=f"see {url}")
        elif name == "code":
            node = Node(id="n", type="Own", code=CODE.format(body=repr(url)))
        elif name == "key":
            node = Node(id="n", type="ChatInput", params={"a": {url: 1}})
        elif name in {"prompt", "call"}:
            policy = {"output_mode": "http_post", "output_config": {"url": url}}
            node = Node.model_validate({"id": "n", "type": "ChatInput", "policy": policy})
        elif name == "form":
            members["form"] = (FormField(id="a", label=url),)
        elif name == "settings":
            members["settings"] = {"widget": {"origins": [url]}}
        else:
            members["description"] = url
        found = found_in(node, **members)
        assert url in found.urls, name
        assert url.split("/")[2] in found.hosts

    @given(hosts, st.sampled_from(["url", "base_url", "host", "endpoint", "server_address"]), st.data())
    def test_lists_addresses_without_a_scheme(self, host: str, name: str, data: st.DataObject) -> None:
        address = data.draw(st.sampled_from(["{}", "{}/path", "{}:8080"])).format(host)
        node = Node(id="n", type=data.draw(ordinary), params={name: address})
        assert any(host in one for one in found_in(node).hosts)

    @given(names, st.data())
    def test_lists_every_secret_that_is_referred_to(self, name: str, data: st.DataObject) -> None:
        assert name in found_in(data.draw(nodes_with({"secret": name}))).variables

    @given(names, st.data())
    def test_lists_names_in_secret_fields_and_headers(self, name: str, data: st.DataObject) -> None:
        type_, field = data.draw(st.sampled_from(SECRET_FIELDS))
        assert name in found_in(Node(id="n", type=type_, params={field: name})).variables
        unknown = Node(id="n", type="Unheard", params={data.draw(st.sampled_from(["api_key", "auth_token"])): name})
        assert name in found_in(unknown).variables
        value = data.draw(st.sampled_from(["{}", "Bearer {}"])).format(name)
        assert name in found_in(Node(id="n", type="HTTPRequest", params={"headers": {"X-Key": value}})).variables

    @given(names)
    def test_lists_secrets_that_code_asks_for(self, name: str) -> None:
        code = CODE.format(body=f"self.ctx.secret({name!r})")
        assert name in found_in(Node(id="n", type="Own", code=code)).variables

    @given(words, words, st.data())
    def test_lists_every_model(self, provider: str, model: str, data: st.DataObject) -> None:
        assert f"{provider}/{model}" in found_in(data.draw(nodes_with({"provider": provider, "name": model}))).models
        named = Node(
            id="n", type=data.draw(st.sampled_from(["Agent", "Unheard"])), params={"model": f"{provider}/{model}"}
        )
        assert f"{provider}/{model}" in found_in(named).models

    @given(words, st.booleans())
    def test_lists_every_mcp_server(self, server: str, own: bool) -> None:
        code = CODE.format(body="1") if own else None
        node = Node(id="n", type="McpTools", code=code, params={"server": server})
        assert server in found_in(node).servers
