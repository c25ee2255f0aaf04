"""`headgate knowledge`: knowledge bases, their documents, search, and the verification of citations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import typer
from pydantic import ValidationError
from rich.markup import escape

from headgate.entrypoints.cli import (
    knowledge_evaluation,
    knowledge_metadata,
    knowledge_models,
    knowledge_preview,
    knowledge_sources,
)
from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.files import store_files
from headgate.entrypoints.cli.knowledge_base import BaseArgument, LevelOption, RoleOption, find_base, search_line
from headgate.entrypoints.cli.knowledge_metadata import MetadataOption, WhereOption
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge import service
from headgate.features.knowledge.contents import delete_contents
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import CitationIn, DocumentChange, DocumentIn, DocumentOut, Readers
from headgate.features.knowledge.metadata.written import conditions_of, metadata_of
from headgate.features.knowledge.schemas import KnowledgeBaseOut
from headgate.features.knowledge.search.schemas import (
    DEFAULT_PASSAGES,
    MOST_NEIGHBOURS,
    MOST_PASSAGES,
    HitOut,
    SearchIn,
    SearchOut,
)
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id
from headgate.graph.queries import MOST_QUERIES
from headgate.sdk.coerce import text_of

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Knowledge: bases, documents, search, verify citations."
)
MOST_FILES = 10_000
SHOWN = 600
"""Characters of a passage that a search prints; `--json` prints all."""
SEARCH = "knowledge.search"


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List knowledge bases with the numbers of their documents."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            bases = await service.list_bases(session, acting(), limit=200, after=None)
        rows = [
            (escape(item.name), item.documents, item.waiting, item.failed, _embedded(item), item.id) for item in bases
        ]
        columns = ("name", "documents", "waiting", "failed", "search", "id")
        none = "No knowledge base. Create one: headgate knowledge create NAME"
        print_rows(bases, columns, rows, json=json, none=none)

    with_installation(work)


def _embedded(base: KnowledgeBaseOut) -> str:
    """Return how a base is searched."""
    if not base.embedding_model:
        return "lexical"
    recall = base.vector_recall
    approximate = "" if recall is None else f", approximate: finds {recall:.0%} of the nearest"
    return f"{escape(base.embedding_model)}, {base.passages_embedded} of {base.passages} embedded{approximate}"


app.command()(knowledge_metadata.fields)
app.command()(knowledge_preview.preview)
app.command()(knowledge_models.create)
app.command()(knowledge_models.embed)
app.command()(knowledge_models.rerank)
app.command()(knowledge_models.retention)


@app.command()
def add(
    which: BaseArgument,
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders whose files are added.")],
    role: RoleOption = None,
    classification: LevelOption = None,
    metadata: MetadataOption = None,
    json: JsonFlag = False,
) -> int:
    """Add files to a knowledge base and index them. A document of the same name becomes its next version.

    Unless options say otherwise, viewers of the space read a new document, at level 0. A document that exists keeps its
    readers and level: `headgate knowledge change` changes them for all its versions.

    Exit code 1 when a document could not be read; each is listed with the reason.
    """
    files = list(_files(paths))

    async def work(parts: Parts) -> Sequence[DocumentOut]:
        base = await find_base(parts, which)
        readers = None if role is None else Readers(role=None if role == "nobody" else role)
        ids = []
        for path, name in files:
            (file_id,) = await store_files(parts, [path])
            body = checked(
                DocumentIn, file_id=file_id, name=name, source=str(path)[-500:], readers=readers,
                classification=classification, metadata=metadata_of(metadata),
            )  # fmt: skip
            async with parts.database.writing() as session:
                document = await documents.add_document(session, acting(), base.id, body)
            ids.append(document.id)
            parts.indexer.soon(document.id)
        await parts.indexer.settle()
        async with parts.database.reading() as session:
            return [await documents.describe_document(session, acting(), base.id, item) for item in ids]

    added = with_parts(work)
    if json:
        print_json(added)
    else:
        _show(added)
    return FAILED if any(item.problem for item in added) else OK


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield files with the names of their documents: the path within a folder that was named."""
    count = 0
    for path in paths:
        members = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        for member in members:
            count += 1
            if count > MOST_FILES:
                raise Invalid(f"There are more than {MOST_FILES} files.", remedy="Add them in several steps.")
            yield member, member.relative_to(path).as_posix() if path.is_dir() else member.name


@app.command("status")
def status(which: BaseArgument, json: JsonFlag = False) -> None:
    """List the documents of a knowledge base: state, passages, what was not understood."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.reading() as session:
            rows = await documents.list_documents(session, acting(), base.id, limit=200)
        if json:
            print_json(rows)
        elif not rows:
            console.print("No document. Add files: headgate knowledge add BASE FILE...")
        else:
            _show(rows)

    with_installation(work)


def _show(rows: Sequence[DocumentOut]) -> None:
    shown = [
        (
            escape(item.name),
            item.version,
            item.status if item.status != "indexing" else f"{item.passages_done} of {item.passages}",
            item.passages,
            item.readers.role or "listed",
            when(item.updated_at),
        )
        for item in rows
    ]
    console.print(table(("document", "version", "state", "passages", "readers", "updated"), shown))
    for item in rows:
        for line in [item.problem, *item.notes]:
            if line:
                console.print(f"{escape(item.name)}: {escape(line)}")


@app.command()
def change(
    which: BaseArgument,
    document: Annotated[str, typer.Argument(help="Id or name of the document.")],
    role: RoleOption = None,
    user: Annotated[
        list[str] | None, typer.Option(help="Id of a user who may read it; repeat it. They replace those it has.")
    ] = None,
    group: Annotated[list[str] | None, typer.Option(help="Id of a directory group, like --user.")] = None,
    nobody_listed: Annotated[bool, typer.Option("--nobody-listed", help="Remove all listed users and groups.")] = False,
    classification: LevelOption = None,
    retention_days: Annotated[
        int | None,
        typer.Option(help="Days that it is kept; 0: always; -1: as the base says.", min=-1, max=36_500),
    ] = None,
    metadata: MetadataOption = None,
    no_metadata: Annotated[bool, typer.Option("--no-metadata", help="Remove all metadata.")] = False,
    json: JsonFlag = False,
) -> None:
    """Change who may read a document, its level, retention or metadata: for all versions, from the next search on.

    Omitted options stay unchanged; metadata is replaced as a whole.
    """

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.writing() as session:
            document_id = await documents.document_id_of(session, acting(), base.id, document)
            readers = (await documents.describe_document(session, acting(), base.id, document_id)).readers
            listed: dict[str, list[str]] = {"users": [], "groups": []} if nobody_listed else {}
            listed |= {name: ids for name, ids in (("users", user), ("groups", group)) if ids}
            given = {"role": None if role == "nobody" else role} if role is not None else {}
            values: dict[str, Any] = {"readers": readers.model_dump() | listed | given}
            values |= {} if classification is None else {"classification": classification}
            if retention_days is not None:
                values["retention_days"] = None if retention_days < 0 else retention_days
            if metadata or no_metadata:
                values["metadata"] = metadata_of(metadata) or {}
            document_change = checked(DocumentChange, **values)
            changed = await documents.change_document(session, acting(), base.id, document_id, document_change)
        if json:
            print_json(changed)
        else:
            _show([changed])

    with_installation(work)


@app.command()
def search(
    which: BaseArgument,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    limit: Annotated[int, typer.Option(help="Maximum number of passages.", min=1, max=MOST_PASSAGES)] = (
        DEFAULT_PASSAGES
    ),
    mode: Annotated[
        Literal["lexical", "vector", "hybrid"] | None,
        typer.Option(help="By words, by meaning, or both. Default: hybrid where passages are embedded, else lexical."),
    ] = None,
    neighbours: Annotated[
        int,
        typer.Option(help="Passages before and after each one that are returned with it.", min=0, max=MOST_NEIGHBOURS),
    ] = 0,
    diversity: Annotated[
        float, typer.Option(help="From 0, the best passages, to 1, passages that share few words.", min=0, max=1)
    ] = 0,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank",
            help=(
                "Require that the rerank model of the base orders the passages, or do without it. Default: where it is"
                " chosen and answers."
            ),
        ),
    ] = None,
    query_model: Annotated[
        str, typer.Option(help="Chat model that writes further queries, as provider/name; empty: none.")
    ] = "",
    queries: Annotated[int, typer.Option(help="Queries that it writes.", min=1, max=MOST_QUERIES)] = 3,
    where: WhereOption = None,
    json: JsonFlag = False,
) -> None:
    """Search a knowledge base: passages with scores, documents and pages."""
    search_in = checked(
        SearchIn, query=query, limit=limit, mode=mode, neighbours=neighbours, diversity=diversity, rerank=rerank,
        query_model=query_model, queries=queries, filters=conditions_of(where),
    )  # fmt: skip

    async def work(parts: Parts) -> SearchOut:
        base = await find_base(parts, which)
        return await parts.searcher.search_as(acting(), base.id, search_in)

    answer = with_parts(work)
    if json:
        print_json(answer)
        return
    console.print(escape(search_line(answer)))
    if len(answer.queries) > 1:
        console.print(escape(f"Queries: {'; '.join(answer.queries)}"))
    if answer.problem:
        console.print(escape(answer.problem))
    if not answer.hits:
        console.print("No passage matches.")
    for number, hit in enumerate(answer.hits, start=1):
        page = f", page {hit.page}" if hit.page is not None else ""
        console.print(f"[bold]{number}. {escape(hit.document)}{page}[/bold]  score {hit.score}{_ranks(hit)}")
        text = hit.text.strip()
        console.print(escape(text if len(text) <= SHOWN else f"{text[:SHOWN]} …"), soft_wrap=True)


def _ranks(hit: HitOut) -> str:
    words = "" if hit.lexical_rank is None else f", rank {hit.lexical_rank} by words"
    meaning = "" if hit.vector_rank is None else f", rank {hit.vector_rank} by meaning (similarity {hit.similarity})"
    before = "" if hit.first_rank is None else f", rank {hit.first_rank} before reranking"
    reranked = "" if hit.rerank_score is None else f", rerank score {hit.rerank_score}"
    return words + meaning + before + reranked


@app.command()
def verify(
    evidence: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its evidence as a JSON file.")],
    json: JsonFlag = False,
) -> int:
    """Verify the citations of a run: that each cited text is in the document with the cited checksum.

    The files of the documents are read again. Exit code 1 when a citation is not verified.
    """

    async def work(parts: Parts) -> int:
        citations = list(_citations(await _evidence(parts, evidence)))
        unique = {(item.document_id, item.version, item.start, item.end, item.sha256): item for item in citations}
        result = await parts.citations.verify(acting(), list(unique.values()))
        if json:
            print_json(result)
        elif not result.citations:
            console.print("The run cites no document.")
        for item in () if json else result.citations:
            mark = "[green]verified[/green]" if item.verified else "[red]not verified[/red]"
            console.print(f"{mark}  {escape(item.document)} version {item.version}: {escape(item.reason)}")
        return OK if result.verified else FAILED

    return with_parts(work)


async def _evidence(parts: Parts, which: str) -> Any:  # noqa: ANN401 - JSON
    if is_id(which):
        async with parts.database.reading() as session:
            return await parts.notary.package(session, acting(), which)
    try:
        return orjson.loads(Path(which).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise Invalid(f"{which} is neither a run nor evidence as JSON.", remedy="Give the id of a run.") from error


def _citations(evidence: Any) -> Iterator[CitationIn]:  # noqa: ANN401 - JSON
    """Yield the passages of every search in evidence. Raises `Invalid` for one that is not complete."""
    values = [evidence]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            if value.get("name") == SEARCH and isinstance(value.get("result"), list):
                yield from (_citation(item) for item in value["result"])
            values += value.values()
        elif isinstance(value, list):
            values += value


def _citation(value: Any) -> CitationIn:  # noqa: ANN401 - JSON
    try:
        return CitationIn.model_validate(value)
    except ValidationError as error:
        raise Invalid(
            "The evidence has a citation that is not complete.", remedy="Export the evidence of the run again."
        ) from error


@app.command()
def delete(
    which: BaseArgument,
    document: Annotated[str | None, typer.Option(help="Only this document: its id or name.")] = None,
    json: JsonFlag = False,
) -> None:
    """Delete a knowledge base with all its documents, or one document."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.writing() as session:
            if document is None:
                file_ids = await service.delete_base(session, acting(), base.id)
            else:
                document_id = await documents.document_id_of(session, acting(), base.id, document)
                file_ids = await documents.delete_document(session, acting(), base.id, document_id)
        await delete_contents(installation.storage, file_ids, tenant_id=acting().tenant_id)
        if json:
            print_json({"deleted": document or base.name})
        else:
            console.print(f"Deleted {escape(text_of(document or base.name))}.")

    with_installation(work)


app.command()(knowledge_sources.sources)
app.command("source")(knowledge_sources.add_source)
app.command("change-source")(knowledge_sources.change_source)
app.command()(knowledge_sources.sync)
app.command("delete-source")(knowledge_sources.delete_source)
app.command("questions")(knowledge_evaluation.questions_)
app.command()(knowledge_evaluation.propose)
app.command()(knowledge_evaluation.evaluate)
app.command()(knowledge_evaluation.evaluations)
