"""What a request about files asks for: to write, read, list, search or change one, or to document the flow."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.offline.files.documentation import document, file_name
from headgate.agents.assistant.offline.files.paths import path_named
from headgate.agents.assistant.offline.files.wording import is_quoted, pattern, unquoted
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from headgate.graph.template import Catalog

LONGEST_ASKED = 2_000
"""Characters of a request that does more than write; what a file is to say may be as long as it is."""
_KINDS = {"markdown": "md", "text": "txt", "python": "py"}
_DOCUMENT = (
    pattern(r"{please}{write} {a}(?:(?P<file>{file})(?: {called})? )?(?:{path} )?{about} {flow}{end}"),
    pattern(r"{please}{write} {a}{file} {about} {flow}(?: (?:as|in|to|into|called|named|i|som|till) {place})?{end}"),
    pattern(r"{please}(?:document|dokumentera) {flow}(?: (?:as|in|to|into|i|som|till) {place})?{end}"),
    pattern(r"{please}(?:describe|explain|beskriv|förklara) {flow} (?:as|in|to|into|i|som|till) {place}{end}"),
)
_WRITE_QUOTED = pattern(r"{please}{write} {place}[,:]?(?: (?:{says}|{with}))?\s*:?\s*(?P<content>{quoted})(?P<rest>.*)")
_WRITE_INTO = pattern(
    r"{please}(?:{write}|put|lägg|stoppa) (?P<content>{quoted}) (?:to|in|into|as|i|till|som) {place}{end}"
)
_WRITE_PLAIN = pattern(r"{please}{write} {place}(?:,? {says}\s*:?|,? {with}\s*:|\s*:)\s*(?P<content>\S.*)")
_WRITE_WITH = pattern(
    r"{please}{write} {place},? (?:with|med)(?: (?:the|this))? (?:text|contents?|words|line|message|texten|innehållet|orden|raden)"  # noqa: E501
    r" (?P<content>\S.*)"
)
_READ = (
    pattern(r"{please}{show} (?:(?:the )?contents? of |what is in |innehållet i )?{place}{end}"),
    pattern(r"{please}what(?:'s| is| stands)? (?:written )?in {place}{end}"),
    pattern(r"{please}what does {place} (?:say|contain){end}"),
    pattern(r"{please}(?:vad står (?:det )?i|vad innehåller) {place}{end}"),
)
_LIST = (
    pattern(r"{please}{list} (?:all (?:of )?|alla )?(?:my|mina) {kind}{files}(?: (?:in|i) .{0,20}{workspace})?{end}"),
    pattern(r"{please}{list} (?:all |alla )?(?:the |de )?{kind}{files} (?:in|i) (?:(?:my|the|min) )?{workspace}{end}"),
    pattern(r"{please}(?:what|which) {kind}{files} (?:do i have|have i got|are there|have i|are mine)"
            r"(?: in (?:my|the) {workspace})?{end}"),
    pattern(r"{please}(?:what|which) {kind}{files} (?:are|is) in (?:my|the) {workspace}{end}"),
    pattern(r"{please}(?:what is|what's|vad finns|vad ligger) (?:in|i) (?:(?:my|the|min) )?{workspace}{end}"),
    pattern(r"{please}(?:do i have|have i|har jag) (?:any |some |några )?{kind}{files}"
            r"(?: (?:in|i) .{0,20}{workspace})?{end}"),
    pattern(r"{please}vilka {kind}{files} (?:har jag|finns(?: det)?)(?: i (?:min )?{workspace})?{end}"),
)  # fmt: skip
_SEARCH = (
    pattern(r"{please}{find} (?P<what>{quoted}|\S.{0,200}?) (?:in|across|among|inside|i|bland) {mine}{end}"),
    pattern(r"{please}(?:search|look|grep|sök|leta)(?: through| in| igenom| i)? {mine} "
            r"(?:for|efter) (?P<what>{quoted}|\S.{0,200}?){end}"),
    pattern(r"{please}(?:which|what)(?: of)?(?: my| the)? {files} {has} (?P<what>{quoted}|\S.{0,200}?){end}"),
    pattern(r"{please}(?:in|i) (?:which|what|vilka)(?: of| av)?(?: my| mina)? {files} {stands} "
            r"(?P<what>{quoted}|\S.{0,200}?)(?: (?:appear|occur|stand|mentioned|found))?{end}"),
    pattern(r"{please}(?:where|var) (?:in|i) {mine} {stands} "
            r"(?P<what>{quoted}|\S.{0,200}?)(?: (?:appear|occur|stand|mentioned|found))?{end}"),
    pattern(r"{please}{stands} (?:(?:the )?(?:word|text) |ordet |texten )?(?P<what>{quoted}) (?:in|i) {mine}{end}"),
    pattern(r"{please}(?:does|do) (?:any of )?(?:my|the) {files} {has} (?P<what>{quoted}|\S.{0,200}?){end}"),
    pattern(r"{please}vilka(?: av)?(?: mina)? {files} {has} (?P<what>{quoted}|\S.{0,200}?){end}"),
)  # fmt: skip
_SEARCH_ONE = pattern(r"{please}{find} (?P<what>{quoted}) (?:in|inside|i) {place}{end}")
_VALUES = r"{every}(?P<old>{quoted}|\S.{0,200}?) {by} (?P<new>{quoted}|\S.{0,200}?|(?=in|i))"
_REPLACE = (
    pattern(r"{please}{replace} " + _VALUES + r"(?P<here> everywhere| överallt)? {in} {place}{everywhere}{end}"),
    pattern(r"{please}(?:{in}|edit|update|ändra i|uppdatera) {place}[,:]? {replace} " + _VALUES + r"{everywhere}{end}"),
    pattern(
        r"{please}{change} {every}(?P<old>{quoted}) (?:to|into|till) (?P<new>{quoted}) {in} {place}{everywhere}{end}"
    ),
)
_REMOVE = pattern(
    r"{please}(?:remove|delete|ta bort|radera) {every}(?P<old>{quoted})(?P<here> everywhere| överallt)? "
    r"(?:from|in|i|från|ur) {place}{everywhere}{end}"
)
_ALSO = re.compile(r"[\s.,;]*(?:(?:and|then|och|sedan)\b.*)?", re.IGNORECASE | re.DOTALL)

Match = Mapping[str, str | None]
Reader = Callable[[Match, Flow, Catalog], Understanding | None]


def file_request(text: str, flow: Flow, catalog: Catalog) -> Understanding | None:
    """What a request that can only be about files asks for; None for every other."""
    readers = _READERS if len(text) <= LONGEST_ASKED else _WRITERS
    return _first(readers, text, flow, catalog)


def likely_file_request(text: str, flow: Flow, catalog: Catalog) -> Understanding | None:
    """The same for words that could as well describe a flow: `write a file x.md with ...`. Asked when they did not."""
    return _first(_LIKELY, text, flow, catalog)


def _first(
    readers: tuple[tuple[re.Pattern[str], Reader], ...], text: str, flow: Flow, catalog: Catalog
) -> Understanding | None:
    for wording, reader in readers:
        match = wording.fullmatch(text)
        found = reader(match.groupdict(), flow, catalog) if match is not None else None
        if found is not None:
            return found
    return None


def _asks(tool: str, arguments: dict[str, JsonValue], left_out: tuple[str, ...] = ()) -> Understanding:
    return Understanding("manage_files", "", (Action(tool, arguments),), left_out=left_out)


def _document(found: Match, flow: Flow, catalog: Catalog) -> Understanding | None:
    path = path_named(found) if found.get("path") else file_name(flow)
    if not path:
        return None
    if not flow.nodes:
        return Understanding("manage_files", "There is no flow here to document yet. Describe one and I build it.")
    write = Action("write_file", {"path": path}, partial(_described, flow, catalog))
    return Understanding("manage_files", "", (Action("describe_flow_io"), write))


def _described(flow: Flow, catalog: Catalog, answer: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {"content": document(flow, catalog, answer)}


def _write(found: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    path, content = path_named(found), found.get("content") or ""
    rest = found.get("rest") or ""
    if not path or not _ALSO.fullmatch(rest):
        return None
    left = rest.strip(" \t\n.,;!?")
    return _asks("write_file", {"path": path, "content": unquoted(content)}, (left,) if left else ())


def _read(found: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    path = path_named(found)
    return _asks("read_file", {"path": path}) if path else None


def _list(found: Match, _flow: Flow, _catalog: Catalog) -> Understanding:
    kind = (found.get("kind") or "").lower().lstrip(".")
    return _asks("glob_search", {"pattern": f"**/*.{_KINDS.get(kind, kind)}" if kind else "**"})


def _search(found: Match, _flow: Flow, _catalog: Catalog) -> Understanding | None:
    what = unquoted(found.get("what") or "")
    if not what.strip():
        return None
    asked: dict[str, JsonValue] = {"pattern": what, "output_mode": "content", "case_insensitive": True}
    if found.get("path"):
        path = path_named(found)
        return _asks("grep_search", asked | {"path": path}) if path else None
    return _asks("grep_search", asked)


def _replace(found: Match, flow: Flow, _catalog: Catalog) -> Understanding | None:
    path, old, new = path_named(found), found.get("old") or "", found.get("new") or ""
    saved = {str(node.params.get("name", "")) for node in flow.nodes}
    if not path or not unquoted(old) or (path in saved and not is_quoted(old)):
        return None
    asked: dict[str, JsonValue] = {"path": path, "old_string": unquoted(old), "new_string": unquoted(new)}
    everywhere = any(found.get(name) for name in ("every", "everywhere", "here"))
    return _asks("edit_file", asked | ({"replace_all": True} if everywhere else {}))


def _all(wordings: tuple[re.Pattern[str], ...], reader: Reader) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    return tuple((wording, reader) for wording in wordings)


_WRITERS = _all((_WRITE_QUOTED, _WRITE_INTO, _WRITE_PLAIN), _write)
_READERS = (
    *_all(_DOCUMENT, _document),
    *_WRITERS,
    *_all((*_REPLACE, _REMOVE), _replace),
    *_all(_LIST, _list),
    *_all((*_SEARCH, _SEARCH_ONE), _search),
    *_all(_READ, _read),
)
_LIKELY = _all((_WRITE_WITH,), _write)
