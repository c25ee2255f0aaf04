"""A flow under construction: the value for the next step, and its conversion to the required type."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import JsonValue, ValidationError, create_model

from headgate.agents.assistant.offline.build.draft import Draft
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.conditions import literal, quoted_column
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.reading.sources import Source
from headgate.agents.assistant.offline.reading.units import LINE, Unit
from headgate.toolkit.tool import ToolRefused

CursorKind = Literal["file", "text", "table", "items", "number", "data", "form"]


class CannotBuild(Exception):
    """The steps are incompatible; the message explains it in the language of the request."""


class Impossible(CannotBuild):
    """What was asked for is clear and cannot be done; no other reading of the request is tried."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The output that the next step reads."""

    kind: CursorKind
    node: str
    port: str
    column: str = ""
    """Of `items`: the one column of the table that they are."""
    columns: tuple[str, ...] | None = None
    """Of a table: its columns, where they are known."""


@dataclass
class Hints:
    """Required contents of a sample, so that the flow has something to process."""

    columns: dict[str, list[str | float]] = field(default_factory=dict)
    """Column to values used by steps; numbers if calculated with."""
    texts: list[str] = field(default_factory=list)
    """What lines speak of."""
    changes: bool = False
    """Whether the text that comes out must differ from the one that went in."""
    path: str = ""
    """The part of a JSON text that is taken."""
    answers: bool = False
    """Whether the outcome is one of several answers, which need not differ."""

    def column(self, name: str, *values: str | float) -> None:
        """A column that must be there, and values of it."""
        self.columns.setdefault(name, []).extend(value for value in values if value != "")


@dataclass
class Work:
    """The draft, and the value that comes next."""

    draft: Draft
    context: Context
    source: Source
    keys: frozenset[str] = frozenset()
    """Keys of all recipes of the request."""
    cursor: Cursor | None = None
    started: Cursor | None = None
    """The value that the flow began with."""
    results: list[Cursor] = field(default_factory=list)
    """Values to be put together at the end, besides the last."""
    ended: bool = False
    """Whether the value has been shown, saved or sent."""
    hints: Hints = field(default_factory=Hints)
    uses_form: bool = False
    """Whether form answers are used without a step."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Old id to new id, of the steps of an existing flow."""

    @property
    def sv(self) -> bool:
        """Whether the request is in Swedish."""
        return self.context.language == "sv"

    def text_of(self, key: str, **values: object) -> str:
        """A text of `messages.txt` in the language of the request."""
        return message(key, self.context.language, **values)

    def cannot(self, key: str, **values: object) -> CannotBuild:
        """Why the steps do not fit together, to be raised."""
        return CannotBuild(self.text_of(key, **values))

    def govern(self, node_id: str, members: Mapping[str, JsonValue]) -> None:
        """Set a policy, or settings of the flow without a node. Raises `CannotBuild` for a value out of range."""
        try:
            self.draft.govern(node_id, members)
        except ToolRefused as error:
            fault = error.__cause__
            raise self._refused(fault) if isinstance(fault, ValidationError) else CannotBuild(error.detail) from error

    def configure(self, node_id: str, **params: JsonValue) -> None:
        """Set fields of a node. Raises `CannotBuild` for a value out of range."""
        self.draft.configure(node_id, **params)
        fields = self.draft.catalog.component(self.draft.nodes[node_id].type).model_fields  # type: ignore[attr-defined]
        try:
            for name, value in params.items():
                made: Any = create_model("Values", **{name: (fields[name].annotation, fields[name])})  # type: ignore[call-overload]
                made(**{name: value})
        except ValidationError as error:
            raise self._refused(error) from error

    def _refused(self, error: ValidationError) -> CannotBuild:
        """Why a value is refused: the limit that it is beyond, else what the check says."""
        fault = error.errors(include_url=False)[0]
        name, keys = str(fault["loc"][-1]), {"le": "above", "ge": "below", "gt": "below_or_at"}
        limit = next(iter((fault.get("ctx") or {}).items()), ("", ""))
        if limit[0] not in keys:
            return Impossible(self.text_of("out_of_range", fault=f"{name}: {fault['msg']}"))
        return Impossible(self.text_of(keys[limit[0]], name=name, limit=f"{limit[1]:.12g}"))

    def set(self, kind: CursorKind, node: str, port: str, **more: object) -> None:
        """Continue with another value."""
        self.cursor = replace(Cursor(kind, node, port), **more)  # type: ignore[arg-type]
        self.ended = False

    def begin(self) -> Cursor:
        """Return the current value; the flow's source if there is none yet."""
        if self.cursor is None:
            self.cursor = self.started = _begin(self)
        return self.cursor

    def text(self) -> tuple[str, str]:
        """Node and port of the value as text."""
        cursor = self.begin()
        if cursor.kind == "items":
            label = self.text_of("one_per_line")
            expression = f"join({json_literal(chr(10))}, [].to_string({member(cursor.column)}))"
            return self.select(cursor, expression, "as_text", label), "text"
        if cursor.kind in {"number", "data"} and cursor.port in {"data", "result"} and self._has(cursor.node, "text"):
            return cursor.node, "text"
        if cursor.kind == "table" and cursor == self.started and self._is_read(cursor.node):
            return cursor.node, "text"
        if cursor.kind == "form":
            return cursor.node, "text"
        return cursor.node, cursor.port

    def passed(self) -> tuple[str, str]:
        """Node and port of the value as it is, for a step that passes it on; a text where no source is named."""
        if self.cursor is None and not self.source.words:
            return self.text()
        return self.begin().node, self.begin().port

    def _has(self, node: str, output: str) -> bool:
        template = self.draft.template(node)
        return template is not None and template.output(output) is not None

    def _is_read(self, node: str) -> bool:
        return self.draft.nodes[node].type == "ReadFile"

    def select(self, cursor: Cursor, expression: str, name: str, label: str = "") -> str:
        """A step that picks a part out of a value; returns its id."""
        params = {"expression": expression}
        return self.draft.add_after((cursor.node, cursor.port), "SelectData", name, params, "data", label=label)

    def constant_text(self, text: str, node: str, port: str) -> str:
        """A step that returns a text when a value arrives; returns its id."""
        quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return self.select(Cursor("data", node, port), quoted, "say", text)

    def items(self, unit: Unit | None = None) -> Cursor:
        """The value as rows of one column: the parts of a text, or the list that it is already."""
        cursor = self.begin()
        is_column = cursor.kind == "items" and (unit is None or unit.key == cursor.column)
        if is_column or (cursor.kind == "table" and unit is None):
            return cursor
        part = unit or LINE
        name = part.name("en")
        label = part.name(self.context.language).capitalize()
        if part.split:
            node = self.draft.add("SplitText", name, {"by": part.split}, label)
            port = "chunks"
        else:
            node = self.draft.add("Regex", name, {"pattern": part.pattern, "mode": "find"}, label)
            port = "matches"
        self.draft.connect(*self.text(), node, "text")
        return self.rows_of(node, port, part.key, label)

    def rows_of(self, node: str, port: str, column: str, label: str = "") -> Cursor:
        """A list of texts as rows of one column."""
        rows = self.select(Cursor("data", node, port), f"[].{{{member(column)}: @}}", f"{column}_rows", label)
        self.set("items", rows, "data", column=column)
        return self.begin()

    def table(self) -> Cursor:
        """Return the value as a table. Raises `CannotBuild` for an unsuitable text."""
        cursor = self.begin()
        if cursor.kind in {"table", "items"}:
            return cursor
        if cursor.kind == "data":
            return replace(cursor, kind="table")
        if cursor.kind == "text" and cursor == self.started and self.source.kind in {"text", "message", "json"}:
            node = self.draft.add("ParseJSON", "parse", {}, "JSON")
            self.draft.connect(*self.text(), node, "text")
            self.set("table", node, "table")
            return self.begin()
        raise self.cannot("needs_table")

    def query(self, name: str, sql: str, *, kind: CursorKind | None = None, column: str = "",
              columns: tuple[str, ...] | None = None) -> None:  # fmt: skip
        """A step of SQL on the value; `t` is the table."""
        cursor = self.table()
        node = self.draft.add_after((cursor.node, cursor.port), "TableQuery", name, {"sql": sql}, "table")
        self.set(kind or cursor.kind, node, "table", column=column or cursor.column, columns=columns or cursor.columns)

    @property
    def name_of_items(self) -> str:
        """The column that a condition without one is about."""
        return self.table().column


def member(name: str) -> str:
    """A name in JMESPath."""
    return name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '\\"') + '"'


def json_literal(text: str) -> str:
    """Return a text as a JMESPath literal, with any characters."""
    return "`" + json.dumps(text, ensure_ascii=False).replace("`", "\\`") + "`"


def _begin(work: Work) -> Cursor:
    draft, sv = work.draft, work.sv
    kind = work.source.kind
    if kind in {"table", "file"}:
        upload = draft.add("FileInput", "upload", {}, "Uppladdad fil" if sv else "Uploaded file")
        read = draft.add("ReadFile", "read", {}, "Läs filen" if sv else "Read the file")
        draft.connect(upload, "file", read, "file")
        columns = work.context.sample.columns if work.context.sample is not None else None
        return Cursor("table", read, "table", columns=columns) if kind == "table" else Cursor("text", read, "text")
    if kind == "packages":
        node = draft.add("InstalledPackages", "packages", {}, "Installerade paket" if sv else "Installed packages")
        columns = ("name", "version", "licence", "summary", "homepage", "files", "size_bytes")
        return Cursor("table", node, "table", columns=columns)
    if kind == "form":
        return Cursor("form", draft.add("FormInput", "form", {}, "Formulär" if sv else "Form"), "data")
    if kind == "message":
        return Cursor("text", draft.add("ChatInput", "message", {}, "Meddelande" if sv else "Message"), "text")
    return Cursor("text", draft.add("TextInput", "text", {}, "Text"), "text")


__all__ = ["CannotBuild", "Cursor", "Hints", "Work", "json_literal", "literal", "member", "quoted_column"]
