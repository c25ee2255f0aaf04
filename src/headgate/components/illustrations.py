"""Images that a text refers to and the run has."""

from collections.abc import Sequence
from urllib.parse import quote

from headgate.sandbox.documents.maker import MOST_IMAGE_BYTES
from headgate.sdk import File, RunContext


async def images_for(ctx: RunContext, markdown: str, given: Sequence[File] = ()) -> dict[str, bytes]:
    """Name and id to content of the images that a Markdown text names, among those given and the run's own.

    Of two files of one name the first given counts, then the newest. What would not fit in a document is left out.
    """
    if "![" not in markdown:
        return {}
    found: dict[str, bytes] = {}
    left = MOST_IMAGE_BYTES
    for file in (*given, *ctx.input.files, *reversed(await ctx.files.of_run())):
        names = [name for name in (file.name, file.id) if name not in found and _named(name, markdown)]
        if names and file.media_type.startswith("image/") and file.size <= left:
            content = await ctx.files.read(file)
            left -= len(content)
            found |= dict.fromkeys(names, content)
    return found


def _named(name: str, markdown: str) -> bool:
    return name in markdown or quote(name) in markdown
