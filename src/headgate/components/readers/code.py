"""Source code as its functions and classes, by the parsers of tree-sitter: for processes that can be killed."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES: Final = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx", ".go": "go", ".java": "java", ".rs": "rust", ".sql": "sql",
}  # fmt: skip
"""Languages by the extension of a file."""
DEEPEST = 50
"""Definitions in definitions."""
LONGEST_NAME = 100
_MODULES: Final = {
    "typescript": "tree_sitter_typescript:language_typescript",
    "tsx": "tree_sitter_typescript:language_tsx",
}
_WRAPPERS: Final = {"export_statement": "declaration", "decorated_definition": "definition"}
_INNER: Final = {"statement", "expression_statement"}
_FUNCTIONS: Final = {
    "function_definition", "function_declaration", "generator_function_declaration", "method_definition",
    "method_declaration", "constructor_declaration", "function_item", "macro_definition", "type_alias_declaration",
}  # fmt: skip
_CLASSES: Final = {
    "class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration",
    "record_declaration", "internal_module", "struct_item", "enum_item", "trait_item", "impl_item", "mod_item",
}  # fmt: skip
_BEFORE: Final = {"comment", "line_comment", "block_comment", "attribute_item"}
"""What belongs to the definition after it."""
_VALUES: Final = {"arrow_function", "function_expression", "generator_function", "class"}
_RECEIVER: Final = re.compile(r"(\w+)\s*(\[[^\]]*\])?\s*\)$")
_WORDS: Final = re.compile(rb"\w.*\w", re.DOTALL)
Section = tuple[int, str]
"""Where a part of the text begins, and the qualified name of its definition; empty outside of one."""


@dataclass(slots=True)
class _Definition:
    start: int
    end: int
    name: str
    inner: "list[_Definition]" = field(default_factory=list)


def language_of_code(name: str) -> str:
    """Return the language of a file by its extension; empty for one that is not parsed."""
    return LANGUAGES.get(PurePosixPath(name.lower()).suffix, "")


def sections_of(text: str, language: str) -> list[Section] | None:
    """Return the functions and classes of source code in order, from offset 0; None when it does not parse."""
    from tree_sitter import Language, Parser  # noqa: PLC0415 - an optional library

    module, _, function = _MODULES.get(language, f"tree_sitter_{language}:language").partition(":")
    code = text.encode("utf-8", "replace")
    grammar: Callable[[], object] = getattr(import_module(module), function)
    root = Parser(Language(grammar())).parse(code).root_node
    if root.has_error:
        return None
    definitions = list(_definitions(root, "", code, 0))
    return _by_character(code, _joined(code, [(0, "", True), *_sections(definitions, "")]))


def _definitions(parent: "Node", path: str, code: bytes, depth: int) -> Iterator[_Definition]:
    children = parent.named_children
    for at, child in enumerate(children):
        node = _unwrapped(child)
        name = _name(node)
        if not name:
            continue
        qualified = ".".join(filter(None, (path, name[:LONGEST_NAME])))
        definition = _Definition(_start(children, at, code), _end(child.end_byte, code), qualified)
        body = node.child_by_field_name("body")
        if node.type in _CLASSES and body is not None and depth < DEEPEST:
            owner = _text(node.child_by_field_name("type")) if node.type == "impl_item" else name
            inside = ".".join(filter(None, (path, owner[:LONGEST_NAME])))
            definition.inner = list(_definitions(body, inside, code, depth + 1))
        yield definition


def _unwrapped(node: "Node") -> "Node":
    while True:
        inner = node.child_by_field_name(_WRAPPERS[node.type]) if node.type in _WRAPPERS else None
        if node.type in _INNER and node.named_children:
            inner = node.named_children[0]
        if inner is None:
            return node
        node = inner


def _name(node: "Node") -> str:
    """Return the name of what a node defines; empty when it defines nothing."""
    if node.type.startswith("create_"):
        return next((_text(child) for child in node.named_children if child.type == "object_reference"), "")
    if node.type in {"lexical_declaration", "variable_declaration"}:
        return next(filter(None, map(_function_name, node.named_children)), "")
    if node.type == "type_declaration":
        return next((_text(child.child_by_field_name("name")) for child in node.named_children), "")
    if node.type not in _FUNCTIONS | _CLASSES:
        return ""
    if node.type == "impl_item":
        return " for ".join(filter(None, (_text(node.child_by_field_name(part)) for part in ("trait", "type"))))
    receiver = _RECEIVER.search(_text(node.child_by_field_name("receiver")))
    return ".".join(filter(None, (receiver and receiver[1], _text(node.child_by_field_name("name")))))


def _function_name(declarator: "Node") -> str:
    value = declarator.child_by_field_name("value")
    is_function = value is not None and value.type in _VALUES
    return _text(declarator.child_by_field_name("name")) if is_function else ""


def _text(node: "Node | None") -> str:
    return "" if node is None or node.text is None else " ".join(node.text.decode(errors="replace").split())


def _start(children: "Sequence[Node]", at: int, code: bytes) -> int:
    """Return where a definition begins, with the comments and attributes before it, at the start of a line."""
    first = children[at]
    for place in range(at - 1, -1, -1):
        before = children[place]
        if before.type not in _BEFORE or first.start_point.row - before.end_point.row > 1:
            break
        first = before
    line = code.rfind(b"\n", 0, first.start_byte) + 1
    return line if not code[line : first.start_byte].strip() else first.start_byte


def _end(end: int, code: bytes) -> int:
    """Return the end of a definition, with the rest of its line unless more code is there."""
    line = code.find(b"\n", end) + 1 or len(code)
    return line if not code[end:line].strip(b" \t\r\n;,") else end


def _sections(definitions: Sequence[_Definition], around: str) -> Iterator[tuple[int, str, bool]]:
    """Yield where each definition begins, and where what is around it continues; the flag says which."""
    for definition in definitions:
        yield definition.start, definition.name, True
        yield from _sections(definition.inner, definition.name)
        yield definition.end, around, False


def _joined(code: bytes, sections: Sequence[tuple[int, str, bool]]) -> list[Section]:
    """Return sections without those that have no word, such as a brace: they belong to the one before."""
    joined: list[Section] = []
    ends = [*(start for start, _, _ in sections[1:]), len(code)]
    for (start, name, begins), end in zip(sections, ends, strict=True):
        continues = not begins and joined and joined[-1][1] == name
        if joined and (continues or not _WORDS.search(code[start:end])):
            continue
        if len(joined) == 1 and not joined[0][1] and not _WORDS.search(code[:start]):
            joined = [(0, name)]
            continue
        joined.append((max(start, joined[-1][0]) if joined else 0, name))
    return joined


def _by_character(code: bytes, sections: Sequence[Section]) -> list[Section]:
    """Return sections with offsets in characters instead of bytes."""
    converted, before, characters = list[Section](), 0, 0
    for start, name in sections:
        characters += len(code[before:start].decode(errors="replace"))
        before = start
        converted.append((characters, name))
    return converted
