"""`headgate knowledge questions` and `headgate knowledge evaluate`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.markup import escape

from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge import documents
from headgate.features.knowledge.evaluation import questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.schemas import DEFAULT_LIMIT, EvaluationDetail, EvaluationIn, QuestionIn
from headgate.features.knowledge.schemas import MOST_PASSAGES
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid


def questions_(
    which: BaseArgument,
    add: Annotated[
        Path | None,
        typer.Option(help="File of questions to add, one JSON object a line: question, documents (names), quote."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the questions of a knowledge base with the documents that answer them, after adding those of a file."""
    added = [] if add is None else list(_question_lines(add))

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.writing() as session:
            for line in added:
                ids = [await documents.document_id_of(session, acting(), base.id, name) for name in line.documents]
                body = checked(QuestionIn, question=line.question, document_ids=ids, quote=line.quote)
                await questions.add_question(session, acting(), base.id, body)
            rows = await questions.list_questions(session, acting(), base.id)
        shown = [(escape(row.question), escape(", ".join(item.name for item in row.documents)), row.id) for row in rows]
        none = "No question. Add some: headgate knowledge questions BASE --add FILE"
        print_rows(rows, ("question", "documents", "id"), shown, json=json, none=none)

    with_installation(work)


class _QuestionLine(BaseModel):
    """A line of a file of questions."""

    model_config = ConfigDict(extra="forbid")

    question: str
    documents: list[str] = Field(min_length=1)
    quote: str = ""


def _question_lines(path: Path) -> Iterator[_QuestionLine]:
    """Yield the questions of a file. Raises `Invalid` with the line that is wrong."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read as text: {error}", remedy="Give a UTF-8 file.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _QuestionLine.model_validate_json(line)
            except ValidationError as error:
                raise Invalid(
                    f"Line {number} of {path} is no question: {error.errors()[0]['msg']}.",
                    remedy='Write {"question": "...", "documents": ["name"]} on each line.',
                ) from error


def evaluate(
    which: BaseArgument,
    limit: Annotated[int, typer.Option(help="Passages of each search.", min=1, max=MOST_PASSAGES)] = DEFAULT_LIMIT,
    json: JsonFlag = False,
) -> None:
    """Search all questions of a knowledge base in every way, and show recall, nDCG and reciprocal rank.

    The evaluation is stored with the settings of the base, to be compared with later ones.
    """

    async def work(parts: Parts) -> EvaluationDetail:
        base = await find_base(parts, which)
        evaluator = Evaluator(parts.database, parts.searcher.embedder)
        return await evaluator.evaluate(acting(), base.id, EvaluationIn(limit=limit))

    evaluation = with_parts(work)
    if json:
        print_json(evaluation)
        return
    measured = evaluation.questions - evaluation.skipped
    shown = [
        (row.mode, f"{row.recall:.2f}", f"{row.ndcg:.2f}", f"{row.mrr:.2f}", f"{row.complete} of {measured}")
        for row in evaluation.measures
    ]
    console.print(table(("search", "recall", "nDCG", "MRR", "all found"), shown))
    if evaluation.skipped:
        console.print(f"{evaluation.skipped} questions skipped: no document that you may read.")
    for answer in evaluation.answers:
        for searched in answer.searches:
            missed = [item.name for item, rank in zip(answer.documents, searched.ranks, strict=True) if rank is None]
            if missed:
                console.print(f"{searched.mode}: {escape(answer.question)} did not find {escape(', '.join(missed))}.")
