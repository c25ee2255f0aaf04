"""What a request about files asks for: to write, read, list, search or change one, or to document the flow."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.offline.files.documentation import document, file_name
from headgate.agents.assistant.offline.language.files import entries
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


_NAME = re.compile(r"\{([a-z]+)\}")
_ENDING = re.compile(
    r".*\.(?:md|markdown|txt|text|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|html?|xml|css|js|ts|py|sh|sql|rst|log|env)",
    re.IGNORECASE | re.DOTALL,
)
_PATH_LIKE = re.compile(r"(?:\.{0,2}[\\/]|~|[a-z]:[\\/]|.*(?:^|[\\/])\.\.?[\\/\w])", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(?:[\w-]+\.)+(?:com|org|net|dev|io|se|no|dk|fi|eu|example)(?:/.*)?")
LONGEST_PATH = 300


@lru_cache(maxsize=1)
def _sections() -> dict[str, list[str]]:
    return dict(entries("both", "files"))


@lru_cache(maxsize=16)
def wordings(key: str) -> tuple[re.Pattern[str], ...]:
    """How a kind of request is worded: patterns of the whole request."""
    return tuple(_pattern(text) for text in _sections()[key])


def _pattern(text: str) -> re.Pattern[str]:
    fragments = dict(line.split(": ", 1) for line in _sections()["fragments"])
    while _NAME.search(text):
        text = _NAME.sub(lambda name: fragments[name[1]], text)
    return re.compile(r"\s*" + text.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


def unquoted(text: str) -> str:
    """What stands between the quotation marks; the text itself where there are none."""
    text = text.strip()
    return text[1:-1] if is_quoted(text) else text


def is_quoted(text: str) -> bool:
    """Whether all of a text stands between quotation marks."""
    return wordings("quoted")[0].fullmatch(text) is not None


def path_named(match: Mapping[str, str | None]) -> str:
    """The path that a match names in its group `path`; empty when these words name no file."""
    written = (match.get("path") or "").strip()
    path = unquoted(written)
    if not path.strip() or len(path) > LONGEST_PATH or "://" in path or "\n" in path:
        return ""
    if match.get("file"):
        return "" if path.lower() in _sections()["no_names"][0].split() and not is_quoted(written) else path
    named = _ENDING.fullmatch(path) or _PATH_LIKE.match(path)
    return path if named and not _ADDRESS.fullmatch(path) else ""
