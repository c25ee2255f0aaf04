"""`headgate knowledge create`, `embed` and `rerank`: bases and the models that embed and rerank their passages."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.knowledge import service
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.index import vectors
from headgate.features.knowledge.schemas import KnowledgeBaseChange, KnowledgeBaseIn, KnowledgeBaseOut
from headgate.features.models.providers import LOCAL
from headgate.features.models.reranking import MOST_TEXTS
from headgate.foundation.checked import checked


def create(
    name: Annotated[str, typer.Argument(help="Name that flows refer to.")],
    description: Annotated[str, typer.Option(help="What its documents are about.")] = "",
    passage_tokens: Annotated[int, typer.Option(help="Size of a passage in tokens.")] = 400,
    overlap_tokens: Annotated[int, typer.Option(help="How much neighbouring passages share, in tokens.")] = 40,
    embedding_model: Annotated[
        str | None,
        typer.Option(
            help=(
                "Model that embeds passages, such as ollama/nomic-embed-text; empty: lexical search."
                " Default: the embedding model on this server, if there is one."
            )
        ),
    ] = None,
    rerank_model: Annotated[
        str, typer.Option(help="Model that reranks the first passages of a search, such as cohere/rerank-v3.5.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Create a knowledge base in the space."""

    async def work(parts: Parts) -> None:
        base_in = checked(
            KnowledgeBaseIn,
            name=name,
            description=description,
            passage_tokens=passage_tokens,
            overlap_tokens=overlap_tokens,
            embedding_model=default_model(parts) if embedding_model is None else embedding_model,
            rerank_model=rerank_model,
        )
        await parts.searcher.probe(acting(), acting().space_id, base_in.embedding_model, base_in.rerank_model)
        async with parts.database.writing() as session:
            base = await service.create_base(session, acting(), base_in)
        print_result(
            base, f"Created {escape(base.name)}: {base.id}\n{_how(base, chosen=embedding_model is not None)}", json=json
        )

    with_parts(work)


def default_model(parts: Parts) -> str:
    """Return the embedding model on this server, as `local/name`; empty when there is none, or no way to search it."""
    ready = parts.local_models.ready("embedding") if vectors.is_installed() else []
    return f"{LOCAL}/{ready[0].name}" if ready else ""


def _how(base: KnowledgeBaseOut, *, chosen: bool) -> str:
    """Return how a new base is searched, and how to change that."""
    if base.embedding_model:
        default = "" if chosen else ", the embedding model on this server"
        return f"Searched by words and by meaning, with {escape(base.embedding_model)}{default}."
    if chosen:
        return "Searched by words only."
    return "Searched by words only. For search by meaning: headgate models pull all-minilm-l6-v2"


def embed(
    which: BaseArgument,
    model: Annotated[str, typer.Argument(help="As provider/name; empty text: the search is lexical only.")],
    json: JsonFlag = False,
) -> None:
    """Choose the model that embeds the passages of a knowledge base, and embed them.

    Until all are embedded, searches use the previous model.
    """
    change = checked(KnowledgeBaseChange, embedding_model=model)

    async def work(parts: Parts) -> KnowledgeBaseOut:
        base = await find_base(parts, which)
        await parts.searcher.probe(acting(), base.space_id, model)
        async with parts.database.writing() as session:
            await service.change_base(session, acting(), base.id, change)
        async with parts.database.reading() as session:
            document_ids = await documents.due_documents(session, acting(), base.id)
        for document_id in document_ids:
            parts.indexer.soon(document_id)
        await parts.indexer.settle()
        async with parts.database.reading() as session:
            return await service.described(session, acting(), await service.get_base(session, acting(), base.id))

    changed = with_parts(work)
    if json:
        print_json(changed)
    elif not changed.embedding_model:
        console.print(f"{escape(changed.name)}: lexical search.")
    else:
        console.print(
            f"{escape(changed.name)}: {changed.passages_embedded} of {changed.passages} passages embedded with"
            f" {escape(changed.embedding_model)}, {changed.embedding_tokens} tokens in all. Searches use"
            f" {escape(changed.searched_model or 'words only')}."
        )


def rerank(
    which: BaseArgument,
    model: Annotated[str, typer.Argument(help="As provider/name; empty text: searches are not reranked.")],
    candidates: Annotated[
        int | None,
        typer.Option(help="Number of the first passages that it receives.", min=2, max=MOST_TEXTS),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Choose the model that reranks the first passages of each search in a knowledge base.

    It is tested with one text.
    """
    change = checked(KnowledgeBaseChange, rerank_model=model, rerank_candidates=candidates)

    async def work(parts: Parts) -> KnowledgeBaseOut:
        base = await find_base(parts, which)
        await parts.searcher.probe(acting(), base.space_id, None, model)
        async with parts.database.writing() as session:
            return await service.change_base(session, acting(), base.id, change)

    changed = with_parts(work)
    how = f"the first {changed.rerank_candidates} passages are reranked by {escape(changed.rerank_model)}."
    shown = how if changed.rerank_model else "searches are not reranked."
    print_result(changed, f"{escape(changed.name)}: {shown}", json=json)


def retention(
    which: BaseArgument,
    days: Annotated[int, typer.Argument(help="Days after its last version; 0: documents are kept.", min=0, max=36_500)],
    json: JsonFlag = False,
) -> None:
    """Choose after how many days the documents of a knowledge base are deleted. Those of sources stay."""

    async def work(parts: Parts) -> KnowledgeBaseOut:
        base = await find_base(parts, which)
        async with parts.database.writing() as session:
            return await service.change_base(session, acting(), base.id, KnowledgeBaseChange(retention_days=days))

    changed = with_parts(work)
    shown = f"documents are deleted {days} days after their last version." if days else "documents are kept."
    print_result(changed, f"{escape(changed.name)}: {shown}", json=json)
