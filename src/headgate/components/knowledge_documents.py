"""The component that adds documents to a knowledge base."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.items import filled_template
from headgate.components.iteration import is_file
from headgate.components.knowledge import base_field
from headgate.foundation.errors import HeadgateError
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, File, Table, field, output
from headgate.sdk.coerce import data_of, describe, text_of
from headgate.sdk.knowledge import AddedDocument, DocumentState, NewDocument

MOST_DOCUMENTS = 1_000
LONGEST_TEXT = 10_000_000
"""Characters of a document that is a text."""
MOST_WAIT_SECONDS = 3_600
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 5.0
_SETTLED = {"ready", "failed"}
_GONE = DocumentState("deleted", 0, "The document was deleted.", ())
ReaderRole = Literal["visitor", "viewer", "runner", "editor", "publisher", "owner", "nobody"]


@dataclass(frozen=True, slots=True)
class _Outcome:
    name: str
    change: str
    """`added`, `changed`, `unchanged`, or `failed`: it was not stored."""
    state: DocumentState

    @property
    def problems(self) -> list[str]:
        return [problem for problem in (self.state.problem, *self.state.notes) if problem]


class IndexDocuments(Component):
    """Adds files and texts to a knowledge base, with metadata for filters, and waits until they are indexed.

    A name identifies a document: a new content becomes its next version, the same one is not indexed again, also when
    the step is repeated. The user who started the run owns it and must be allowed to change knowledge; it is classified
    as what reaches the step.
    """

    label = "Index documents"
    category = "ai"
    icon = "folder-up"
    effect = True
    keywords = (
        "knowledge", "rag", "ingest", "index", "upsert", "vector store", "documents", "embed documents",
        "knowledge base", "add documents", "store", "loader",
    )  # fmt: skip

    documents: File | Data | Table | str = field(
        label="Documents", help="A file, a list of files, texts or objects with a text, rows, or a text.", main=True
    )
    base: str = base_field()
    name: str = field(
        default="",
        label="Name",
        help="Identifies a document: {item.id}, {index}. Empty: member name of an item, such as that of a file.",
        port=False,
        interpolate=True,
        max_length=255,
    )
    metadata: Data = field(
        default_factory=dict,
        label="Metadata",
        help="Object of texts, numbers, dates and booleans of all documents; an item can have its own metadata.",
        kind=FieldKind.JSON,
    )
    readers: ReaderRole = field(
        default="viewer",
        label="Readers",
        help="Lowest role that may read a new document. visitor: also runs without a user. nobody: only its owner.",
        advanced=True,
    )
    wait_seconds: int = field(
        default=600,
        label="Wait for the index",
        help="Seconds; documents that are not indexed by then are reported as waiting.",
        ge=0,
        le=MOST_WAIT_SECONDS,
        advanced=True,
    )
    _outcomes: list[_Outcome] | None = PrivateAttr(default=None)

    @output(help="Numbers of added, changed, unchanged, failed and waiting documents and of passages; problems.")
    async def report(self) -> Data:
        """Return what was done, and what was not understood."""
        outcomes = await self._indexed()
        counts = dict.fromkeys(("added", "changed", "unchanged", "failed", "waiting"), 0)
        for outcome in outcomes:
            counts["failed" if outcome.state.status == "failed" else outcome.change] += 1
            counts["waiting"] += outcome.state.status not in {*_SETTLED, _GONE.status}
        problems: list[JsonValue] = [
            {"document": outcome.name, "problem": problem} for outcome in outcomes for problem in outcome.problems
        ]
        return {**counts, "passages": sum(outcome.state.passages for outcome in outcomes), "problems": problems}

    @output(help="One row per document: document, change, status, passages, problem.")
    async def table(self) -> Table:
        """Return the documents as rows."""
        rows: list[list[JsonValue]] = [
            [outcome.name, outcome.change, outcome.state.status, outcome.state.passages, " ".join(outcome.problems)]
            for outcome in await self._indexed()
        ]
        return Table(columns=["document", "change", "status", "passages", "problem"], rows=rows)

    async def _indexed(self) -> list[_Outcome]:
        """Add the documents once, and wait for their index."""
        if self._outcomes is None:
            added: list[tuple[str, AddedDocument | DocumentState]] = []
            names: set[str] = set()
            for index, item in enumerate(self._items()):
                name = self._name(index, item, names)
                try:
                    added.append((name, await self.ctx.knowledge.add(await self._document(name, item))))
                except HeadgateError as error:
                    if not is_own_failure(error):
                        raise
                    added.append((name, DocumentState("failed", 0, str(error), ())))
            ids = [result.document_id for _, result in added if isinstance(result, AddedDocument)]
            states = await self._states(ids)
            self._outcomes = [_outcome(name, result, states) for name, result in added]
            for outcome in self._outcomes:
                for problem in outcome.problems:
                    self.ctx.log(f"{outcome.name}: {problem}")
        return self._outcomes

    def _items(self) -> list[JsonValue]:
        value = data_of(self.documents)
        items: list[JsonValue] = value if isinstance(value, list) else [value]
        if len(items) > MOST_DOCUMENTS:
            raise ComponentError(
                f"IndexDocuments: there are {len(items)} documents; the limit is {MOST_DOCUMENTS}.",
                remedy="Index them in parts, with ForEach.",
                field="documents",
            )
        return items

    def _name(self, index: int, item: JsonValue, names: set[str]) -> str:
        """Return the name of a document. Raises `ComponentError` for none, and for one that another item has."""
        name = filled_template(self.name, index, item, subject="IndexDocuments").strip()
        if not self.name and isinstance(item, dict) and isinstance(item.get("name"), str):
            name = str(item["name"]).strip()
        if not name or name in names:
            reason = f"the name '{name}' of an earlier one" if name else "no name"
            raise ComponentError(
                f"IndexDocuments: document {index + 1} has {reason}.",
                remedy="Write a name that differs for each document, such as {item.id} or notes/{index}.",
                field="name",
            )
        names.add(name)
        return name

    async def _document(self, name: str, item: JsonValue) -> NewDocument:
        metadata = {**_object(self.metadata), **_object(item.get("metadata") if isinstance(item, dict) else None)}
        if is_file(item):
            file = File.model_validate(item)
            content, media_type = await self.ctx.files.read(file), file.media_type
        else:
            text = item.get("text", item) if isinstance(item, dict) else item
            content, media_type = text_of(text)[:LONGEST_TEXT].encode(errors="replace"), "text/markdown"
        role = None if self.readers == "nobody" else self.readers
        return NewDocument(self.base, name, content, media_type, metadata, role)

    async def _states(self, ids: list[str]) -> Mapping[str, DocumentState]:
        """Return the states of documents, once they are indexed or the time is over."""
        waited, pause = 0.0, _PAUSE_SECONDS
        while True:
            states = await self.ctx.knowledge.states(self.base, ids) if ids else {}
            if waited >= self.wait_seconds or all(state.status in _SETTLED for state in states.values()):
                return states
            pause = min(pause, self.wait_seconds - waited)
            await self.ctx.sleep(pause)
            waited, pause = waited + pause, min(pause * 1.5, _LONGEST_PAUSE_SECONDS)


def is_own_failure(error: HeadgateError) -> bool:
    """Return whether a failure is of one document, so that the others are added."""
    return error.code in {"knowledge_name_taken", "knowledge_document_not_found", "file_not_found", "file_too_large"}


def _outcome(name: str, result: AddedDocument | DocumentState, states: Mapping[str, DocumentState]) -> _Outcome:
    if isinstance(result, DocumentState):
        return _Outcome(name, "failed", result)
    return _Outcome(name, result.change, states.get(result.document_id, _GONE))


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise ComponentError(
            f"IndexDocuments: metadata is {describe(value)}, not an object.",
            remedy='Write an object, such as {"team": "sales", "year": 2026}.',
            field="metadata",
        )
    return cast("Mapping[str, JsonValue]", value)
