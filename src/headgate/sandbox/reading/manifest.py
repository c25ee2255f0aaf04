"""Derives the access of custom code from its source. The sandbox grants exactly this."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from headgate.foundation.guarded_http.errors import BadUrl
from headgate.foundation.guarded_http.targets import Target, parse_target
from headgate.graph.manifest import NOTHING, Manifest
from headgate.sandbox.hosts import WEB_PORTS, HostPattern, read_pattern
from headgate.sandbox.reading.source import Unreadable, read_source

_URL: Final = re.compile(r"https?://(?P<authority>[^\s/?#\"'<>\\]+)", re.IGNORECASE)
_XMLNS: Final = re.compile(r"(?:\{|\bxmlns(?::[\w.-]+)?\s*=\s*[\"'])$", re.IGNORECASE)
"""Text before the URL of an XML namespace, which is not a destination."""
_NAMESPACES: Final = re.compile(r"^_*(?:\w+_)?(?:ns|nsmap|namespaces?|xmlns\w*)_*$", re.IGNORECASE)
"""Names of variables and arguments that contain XML namespaces."""
_NAMES_ONLY: Final = frozenset(
    {
        "www.w3.org", "schemas.openxmlformats.org", "schemas.microsoft.com", "schemas.xmlsoap.org", "purl.org",
        "www.sitemaps.org", "json-schema.org", "xmlns.com", "ns.adobe.com", "docs.oasis-open.org", "search.yahoo.com",
    }
)  # fmt: skip
"""Hosts of namespaces and schemas, which are only included when the code declares them."""
_HOLE = "\0"
"""Placeholder for a value in an f-string: a host that contains it is unknown."""


def derive_manifest(code: str) -> Manifest:
    """Return the modules that the code imports, its hosts, and whether it uses files.

    Hosts are those of literal URLs (`"https://api.example.org/v1"`, also in f-strings; not in docstrings and comments;
    not the names of XML namespaces) and those of the class attribute `hosts: ClassVar = ("api.example.org",)`. Code
    that cannot be parsed gets no access.
    """
    try:
        tree = read_source(code)
    except Unreadable:
        return NOTHING
    nodes = list(ast.walk(tree))
    return Manifest(
        imports=tuple(sorted(set(_imports(nodes)))),
        hosts=tuple(sorted({str(pattern) for pattern in (*_named_hosts(nodes), *_declared_hosts(nodes))})),
        files=any(_is_about_files(node) for node in nodes),
    )


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Import():
                yield from (alias.name.partition(".")[0] for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def _named_hosts(nodes: list[ast.AST]) -> Iterator[HostPattern]:
    for text in _texts(nodes):
        for match in _URL.finditer(text):
            authority = match["authority"]
            if authority.lower() in _NAMES_ONLY or _XMLNS.search(text, 0, match.start()):
                continue
            try:
                if _HOLE not in authority:
                    yield _pattern_of(parse_target(f"http://{authority.rstrip('.,;:)]}')}/"))
            except BadUrl:
                continue


def _pattern_of(target: Target) -> HostPattern:
    return HostPattern(target.host) if target.port in WEB_PORTS else HostPattern(target.host, (target.port,))


def _texts(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield every text in the code, except docstrings and parts of f-strings."""
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)} | _namespace_texts(nodes)
    part_ids = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose and id(node) not in part_ids:
                yield text
            case ast.JoinedStr(values=values):
                yield "".join(_piece(value) for value in values)


def _namespace_texts(nodes: list[ast.AST]) -> set[int]:
    """Yield the texts that are assigned or passed as XML namespaces."""
    values: list[ast.expr] = []
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if _NAMESPACES.match(name):
                values.append(value)
            case ast.keyword(arg=str(name), value=value) if _NAMESPACES.match(name):
                values.append(value)
            case ast.Call(func=ast.Attribute(attr="register_namespace"), args=arguments):
                values += arguments
    return {id(inner) for value in values for inner in ast.walk(value)}


def _piece(value: ast.expr) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else _HOLE


def _declared_hosts(nodes: list[ast.AST]) -> Iterator[HostPattern]:
    for node in nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in node.body:
            match statement:
                case (
                    ast.AnnAssign(target=ast.Name(id="hosts"), value=ast.Tuple(elts=elements) | ast.List(elts=elements))
                    | ast.Assign(
                        targets=[ast.Name(id="hosts")], value=ast.Tuple(elts=elements) | ast.List(elts=elements)
                    )
                ):
                    yield from _patterns(elements)


def _patterns(elements: list[ast.expr]) -> Iterator[HostPattern]:
    for element in elements:
        if isinstance(element, ast.Constant) and isinstance(element.value, str):
            try:
                pattern = read_pattern(element.value)
            except BadUrl:
                continue
            if pattern.host != "*":
                yield pattern


def _is_about_files(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="files") | ast.Name(id="File") | ast.alias(name="File"):
            return True
    return False
