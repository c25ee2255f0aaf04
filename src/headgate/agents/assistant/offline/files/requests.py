"""What a request about files asks for: to write, read, list, search or change one, or to document the flow."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.offline.files.documentation import document, file_name
from headgate.agents.assistant.offline.files.wording import is_quoted, path_named, unquoted, wordings
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from headgate.graph.template import Catalog

LONGEST_ASKED = 2_000
"""Characters of a request that does more than write; what a file is to say may be as long as it is."""
_KINDS = {"markdown": "md", "text": "txt", "python": "py"}
_ALSO = re.compile(r"[\s.,;]*(?:(?:and|then|och|sedan)\b.*)?", re.IGNORECASE | re.DOTALL)

Match = Mapping[str, str | None]
Reader = Callable[[Match, Flow, Catalog], Understanding | None]


def file_request(text: str, flow: Flow, catalog: Catalog) -> Understanding | None:
    """What a request that can only be about files asks for; None for every other."""
    return _first(tuple(_READERS) if len(text) <= LONGEST_ASKED else ("write",), text, flow, catalog)


def likely_file_request(text: str, flow: Flow, catalog: Catalog) -> Understanding | None:
    """The same for words that could as well describe a flow: `write a file x.md with ...`. Asked when they did not."""
    return _first(("likely",), text, flow, catalog)


def _first(keys: tuple[str, ...], text: str, flow: Flow, catalog: Catalog) -> Understanding | None:
    for key in keys:
        for wording in wordings(key):
            match = wording.fullmatch(text)
            made = _READERS.get(key, _write)(match.groupdict(), flow, catalog) if match is not None else None
            if made is not None:
                return made
    return None


def _asks(tool: str, arguments: dict[str, JsonValue], left_out: tuple[str, ...] = ()) -> Understanding:
    return Understanding("manage_files", "", (Action(tool, arguments),), left_out=left_out)


def _document(match: Match, flow: Flow, catalog: Catalog) -> Understanding | None:
    path = path_named(match) if match.get("path") else file_name(flow)
    if not path:
        return None
    if not flow.nodes:
        return Understanding("manage_files", "There is no flow here to document yet. Describe one and I build it.")
    write = Action("write_file", {"path": path}, partial(_described, flow, catalog))
    return Understanding("manage_files", "", (Action("describe_flow_io"), write))


def _described(flow: Flow, catalog: Catalog, answer: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {"content": document(flow, catalog, answer)}


def _write(match: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    path, content = path_named(match), match.get("content") or ""
    rest = match.get("rest") or ""
    if not path or not _ALSO.fullmatch(rest):
        return None
    left = rest.strip(" \t\n.,;!?")
    return _asks("write_file", {"path": path, "content": unquoted(content)}, (left,) if left else ())


def _read(match: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    path = path_named(match)
    return _asks("read_file", {"path": path}) if path else None


def _list(match: Match, _flow: Flow, _catalog: Catalog) -> Understanding:
    kind = (match.get("kind") or "").lower().lstrip(".")
    return _asks("glob_search", {"pattern": f"**/*.{_KINDS.get(kind, kind)}" if kind else "**"})


def _search(match: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    what = unquoted(match.get("what") or "")
    if not what.strip():
        return None
    asked: dict[str, JsonValue] = {"pattern": what, "output_mode": "content", "case_insensitive": True}
    if match.get("path"):
        path = path_named(match)
        return _asks("grep_search", asked | {"path": path}) if path else None
    return _asks("grep_search", asked)


def _replace(match: Match, flow: Flow, _catalog: Catalog) -> Understanding | None:
    path, old, new = path_named(match), match.get("old") or "", match.get("new") or ""
    saved = {str(node.params.get("name", "")) for node in flow.nodes}
    if not path or not unquoted(old) or (path in saved and not is_quoted(old)):
        return None
    asked: dict[str, JsonValue] = {"path": path, "old_string": unquoted(old), "new_string": unquoted(new)}
    everywhere = any(match.get(name) for name in ("every", "everywhere", "here"))
    return _asks("edit_file", asked | ({"replace_all": True} if everywhere else {}))


_READERS: dict[str, Reader] = {
    "document": _document, "write": _write, "replace": _replace, "list": _list, "search": _search, "read": _read,
}  # fmt: skip
