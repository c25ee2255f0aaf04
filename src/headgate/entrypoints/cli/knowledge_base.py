"""The knowledge base that a command names."""

from typing import Annotated, Literal

import typer

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge import service
from headgate.features.knowledge.search.schemas import SearchOut
from headgate.features.knowledge.tables import KnowledgeBaseRow

RoleOption = Annotated[
    Literal["nobody", "visitor", "viewer", "runner", "editor", "publisher", "owner"] | None,
    typer.Option(help="Lowest role in the space that may read it; nobody: only its owner and listed readers."),
]
LevelOption = Annotated[int | None, typer.Option(help="Sensitivity level.", min=0, max=4)]
BaseArgument = Annotated[str, typer.Argument(metavar="BASE", help="Id or name of the knowledge base.")]


async def find_base(installation: Installation, which: str) -> KnowledgeBaseRow:
    """Return the base with an id, or with a name in the space. Raises `BaseNotFound`, `PermissionMissing`."""
    async with installation.database.reading() as session:
        return await service.find_base(session, acting(), which, space_id=acting().space_id)


_WORDS_ONLY = {
    "no_model": ": the base has no embedding model",
    "embedding": ": its passages are not embedded completely yet",
    "failed": ": the question was not embedded",
}


def search_line(answer: SearchOut) -> str:
    """Return how a search was made: by words, by meaning, approximately, reranked."""
    how = {"lexical": "by words only", "vector": "by meaning", "hybrid": "by words and meaning"}[answer.mode]
    model = f", {answer.embedding_model}" if answer.vectors else _WORDS_ONLY.get(answer.words_only or "", "")
    recall = answer.vector_recall
    approximate = "" if recall is None else f", approximate: finds {recall:.0%} of the nearest"
    reranked = f", reranked by {answer.rerank_model}" if answer.rerank_model else ""
    return f"Search {how}{model}{approximate}{reranked}."
