"""Output types pdf and docx: the main output, read as Markdown, is additionally rendered to a file.

The main output is unchanged, so that later steps still read text. The file is an additional output,
`document`, which an edge may connect to any File input, and its id is among the payload's `file_ids`.
"""

from headgate.components.files.illustrations import images_for
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.planned import PlannedStep
from headgate.graph.ports import PortType
from headgate.graph.template import DOCUMENT_OUTPUT
from headgate.sandbox.documents.job import Job
from headgate.sandbox.documents.maker import make_document
from headgate.sdk.coerce import decode, encode, text_of


async def with_document(step: PlannedStep, outputs: Outputs, ctx: StepContext) -> Outputs:
    """Return the outputs with the document. Raises what `make_document` and the file storage raise."""
    main, format_ = step.step.main_output, step.document
    if main is None or main not in outputs or format_ is None:
        return outputs
    markdown = text_of(decode(outputs[main], dict(step.outputs)[main]))
    job = Job(markdown, format_, name=step.label, images=await images_for(ctx, markdown))
    document = await make_document(job)
    for note in document.notes:
        ctx.log(note)
    await ctx.check_cancelled()
    file = await ctx.files.save(f"{step.label}.{format_}", document.content, document.media_type)
    return {**outputs, DOCUMENT_OUTPUT: encode(file, PortType.FILE)}
