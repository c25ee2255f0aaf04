"""Images in a text that are available to the run."""

from collections.abc import Sequence
from urllib.parse import quote

from headgate.sandbox.documents.maker import MOST_IMAGE_BYTES
from headgate.sdk import File, RunContext


async def images_for(ctx: RunContext, markdown: str, candidates: Sequence[File] = ()) -> dict[str, bytes]:
    """Return name and id to content of the images in a Markdown text, from the given files and the run's own.

    Of files with the same name, the first given one is used, then the newest. Images over the document limit are
    skipped.
    """
    if "![" not in markdown:
        return {}
    contents: dict[str, bytes] = {}
    remaining = MOST_IMAGE_BYTES
    for file in (*candidates, *ctx.input.files, *reversed(await ctx.files.of_run())):
        names = [name for name in (file.name, file.id) if name not in contents and _named(name, markdown)]
        if names and file.media_type.startswith("image/") and file.size <= remaining:
            content = await ctx.files.read(file)
            remaining -= len(content)
            contents |= dict.fromkeys(names, content)
    return contents


def _named(name: str, markdown: str) -> bool:
    return name in markdown or quote(name) in markdown
