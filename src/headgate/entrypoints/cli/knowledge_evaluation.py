"""`headgate knowledge questions`, `propose`, `evaluate` and `evaluations`: how well a base is searched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.knowledge_metadata import WhereOption
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge.evaluation import evaluating, questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.proposing import Proposer
from headgate.features.knowledge.evaluation.question_files import QuestionLine, read_questions
from headgate.features.knowledge.evaluation.schemas import (
    DEFAULT_LIMIT,
    MOST_PROPOSALS,
    EvaluationDetail,
    EvaluationIn,
    EvaluationOut,
    ProposalIn,
    ProposalsOut,
)
from headgate.features.knowledge.metadata.written import conditions_of
from headgate.features.knowledge.search.schemas import MOST_PASSAGES
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.graph.queries import MOST_QUERIES


def questions_(
    which: BaseArgument,
    add: Annotated[
        Path | None,
        typer.Option(
            help="File of questions to add, CSV or JSON: question, documents (names), quote, answer, filters."
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the questions of a knowledge base with the documents that answer them, after adding those of a file."""
    added = [] if add is None else _question_lines(add)

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.writing() as session:
            if added:
                await questions.add_questions(session, acting(), base.id, added)
            rows = await questions.list_questions(session, acting(), base.id)
        shown = [(escape(row.question), escape(", ".join(item.name for item in row.documents)), row.id) for row in rows]
        none = "No question. Add some: headgate knowledge questions BASE --add FILE"
        print_rows(rows, ("question", "documents", "id"), shown, json=json, none=none)

    with_installation(work)


def _question_lines(path: Path) -> Sequence[QuestionLine]:
    """Return the questions of a file. Raises `Invalid` with the line that is wrong."""
    try:
        return read_questions(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read as text: {error}", remedy="Give a UTF-8 file.") from error


def propose(
    which: BaseArgument,
    model: Annotated[str, typer.Argument(help="Chat model that makes the questions, as provider/name.")],
    count: Annotated[
        int, typer.Option(help="Passages to ask about, chosen at random.", min=1, max=MOST_PROPOSALS)
    ] = 10,
    add: Annotated[bool, typer.Option("--add", help="Add them to the questions of the base.")] = False,
    json: JsonFlag = False,
) -> None:
    """Have a model make questions from passages that you may read, with their answers and quotes.

    Without --add nothing is stored: --json writes a file that `headgate knowledge questions BASE --add` reads.
    """
    proposal_in = checked(ProposalIn, model=model, count=count)

    async def work(parts: Parts) -> tuple[ProposalsOut, list[QuestionLine]]:
        base = await find_base(parts, which)
        proposals = await Proposer(parts.database, parts.asker).propose(acting(), base.id, proposal_in)
        lines = [
            checked(
                QuestionLine, question=row.question, documents=[row.document.name], quote=row.quote, answer=row.answer
            )
            for row in proposals.proposals
        ]
        if add:
            async with parts.database.writing() as session:
                await questions.add_questions(session, acting(), base.id, lines)
        return proposals, lines

    proposals, lines = with_parts(work)
    shown = [(escape(line.question), escape(line.answer), escape(line.documents[0])) for line in lines]
    print_rows(lines, ("question", "answer", "document"), shown, json=json, none="No usable question was made.")
    if proposals.rejected and not json:
        console.print(f"{proposals.rejected} rejected: their quote or a number of their answer is not in the passage.")


def evaluate(
    which: BaseArgument,
    limit: Annotated[int, typer.Option(help="Passages of each search.", min=1, max=MOST_PASSAGES)] = DEFAULT_LIMIT,
    rerank: Annotated[
        bool, typer.Option(help="Also measure the searches reranked, where the base has a rerank model.")
    ] = True,
    query_model: Annotated[
        str, typer.Option(help="Also measure the searches with queries that this chat model writes, as provider/name.")
    ] = "",
    queries: Annotated[int, typer.Option(help="Queries that it writes.", min=1, max=MOST_QUERIES)] = 3,
    where: WhereOption = None,
    json: JsonFlag = False,
) -> None:
    """Search all questions of a knowledge base in every way, and show recall, nDCG and reciprocal rank.

    The evaluation is stored with the settings of the base, to be compared with later ones.
    """
    evaluation_in = checked(
        EvaluationIn, limit=limit, rerank=rerank, query_model=query_model, queries=queries, filters=conditions_of(where)
    )

    async def work(parts: Parts) -> EvaluationDetail:
        base = await find_base(parts, which)
        evaluator = Evaluator(parts.database, parts.searcher.embedder, parts.asker)
        return await evaluator.evaluate(acting(), base.id, evaluation_in)

    _show(with_parts(work), json=json)


def evaluations(
    which: BaseArgument,
    evaluation: Annotated[
        str | None, typer.Argument(help="Id of an evaluation to show, with what it missed; empty: list all.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the evaluations of a knowledge base, newest first, with the settings of the base at their time."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.reading() as session:
            if evaluation is not None:
                _show(await evaluating.read_evaluation(session, acting(), base.id, evaluation), json=json)
                return
            rows = await evaluating.list_evaluations(session, acting(), base.id)
        shown = [
            (when(row.created_at), row.questions, f"{row.passage_tokens}/{row.overlap_tokens}", escape(_models(row)),
             "\n".join(f"{measure.way}: {measure.recall:.2f} {measure.ndcg:.2f}" for measure in row.measures), row.id)
            for row in rows
        ]  # fmt: skip
        columns = ("evaluated", "questions", "tokens", "models", "recall and nDCG", "id")
        print_rows(rows, columns, shown, json=json, none="No evaluation. Start one: headgate knowledge evaluate BASE")

    with_installation(work)


def _models(row: EvaluationOut) -> str:
    return ", ".join(model for model in (row.embedding_model, row.rerank_model, row.query_model) if model) or "none"


def _show(evaluation: EvaluationDetail, *, json: bool) -> None:
    if json:
        print_json(evaluation)
        return
    measured = evaluation.questions - evaluation.skipped
    shown = [
        (row.way, f"{row.recall:.2f}", f"{row.ndcg:.2f}", f"{row.mrr:.2f}", f"{row.complete} of {measured}")
        for row in evaluation.measures
    ]
    console.print(table(("search", "recall", "nDCG", "MRR", "all found"), shown))
    if evaluation.skipped:
        console.print(f"{evaluation.skipped} questions skipped: no document that you may read meets the filters.")
    for answer in evaluation.answers:
        for searched in answer.searches:
            if missed := ", ".join(searched.missed(answer.documents)):
                console.print(f"{searched.way}: {escape(answer.question)} did not find {escape(missed)}.")
