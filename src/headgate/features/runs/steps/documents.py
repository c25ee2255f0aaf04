"""Output types pdf and docx: the main output, read as Markdown, becomes a file beside itself.

The main output stays what it is, so that the steps after it go on reading text; the file is one more output,
`document`, which an edge may lead anywhere a File goes, and its id is among the payload's `file_ids`.
"""

from headgate.components.illustrations import images_for
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.planned import PlannedStep
from headgate.graph.ports import PortType
from headgate.graph.template import DOCUMENT_OUTPUT
from headgate.sandbox.documents.job import Job
from headgate.sandbox.documents.maker import make_document
from headgate.sdk.coerce import decode, encode, text_of


async def with_document(step: PlannedStep, outputs: Outputs, ctx: StepContext) -> Outputs:
    """The outputs and the document of the main one. Raises what `make_document` and the file storage raise."""
    main, format_ = step.step.main_output, step.document
    if main is None or main not in outputs or format_ is None:
        return outputs
    markdown = text_of(decode(outputs[main], dict(step.outputs)[main]))
    job = Job(markdown, format_, name=step.label, images=await images_for(ctx, markdown))
    made = await make_document(job)
    for note in made.notes:
        ctx.log(note)
    await ctx.check_cancelled()
    file = await ctx.files.save(f"{step.label}.{format_}", made.content, made.media_type)
    return {**outputs, DOCUMENT_OUTPUT: encode(file, PortType.FILE)}
