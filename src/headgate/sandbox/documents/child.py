"""The document process: reads one job from standard input, writes one document to standard output, and exits.

It imports everything it needs before it confines itself; only then is the text read.
"""

import base64
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headgate.sandbox.documents import confinement, pdf, word
from headgate.sandbox.documents.images import NoImage, find_image
from headgate.sandbox.documents.job import Job
from headgate.sandbox.documents.tree import Cleaner, TooDeep, Unusable

FONT_PACKAGES = ("manimgx_fonts", "manimgx_fonts_cjk")
READER = "gfm-yaml_metadata_block"
"""GitHub's Markdown. It has no raw attributes, and `tree.Cleaner` removes raw HTML."""
NO_FOOTNOTES = "-footnotes"
_FOOTNOTE = re.compile(r"^[ \t>*+-]*\[\^[^\]\n]+\]:((?:.|\n(?![ \t]*\n\S|[ \t>*+-]*\[\^[^\]\n]+\]:))*)", re.MULTILINE)
PANDOC_SECONDS = 50
_MEDIA = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}


class Refused(Exception):
    """The text cannot be converted to a document; contains the reason as a sentence."""


def main(scratch: str) -> None:
    """Execute the job from standard input."""
    press = _Press(Path(scratch))
    job = Job.from_json(sys.stdin.buffer.read())
    try:
        content, notes = press.make(job)
    except Refused as reason:
        head: dict[str, Any] = {"refused": str(reason)}
        content = b""
    else:
        head = {"notes": notes}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + content)
    sys.stdout.buffer.flush()


class _Press:
    """Pandoc, Typst, python-docx and the fonts, loaded before confinement."""

    def __init__(self, scratch: Path) -> None:
        confinement.die_with_parent()
        confinement.limit_resources()
        folders = [_folder(name) for name in FONT_PACKAGES if find_spec(name) is not None]
        self._scratch = scratch
        self._pandoc = _folder("pypandoc") / "files" / "pandoc"
        self._typst = import_module("typst")
        self._fonts = self._typst.Fonts(include_system_fonts=False, font_paths=[str(folder) for folder in folders])
        self._docx = import_module("docx")
        for name in ("docx.shared", "docx.oxml.ns", "docx.parts.hdrftr"):
            import_module(name)
        confinement.confine_files(program=self._pandoc, readable=folders, scratch=scratch)

    def make(self, job: Job) -> tuple[bytes, list[str]]:
        """Return the document and its warnings. Raises `Refused`."""
        nested = has_nested_footnotes(job.markdown)
        reader = READER + NO_FOOTNOTES if nested else READER
        tree = json.loads(self._run_pandoc(reader, "json", job.markdown.encode(errors="replace")))
        content, notes = self._word(job, tree) if job.format == "docx" else self._pdf(job, tree)
        return content, [*notes, "Footnotes refer to footnotes; they were kept as typed."] if nested else notes

    def _word(self, job: Job, tree: dict[str, Any]) -> tuple[bytes, list[str]]:
        def as_data(target: str) -> str:
            content, ending = _image(target, job)
            return f"data:{_MEDIA[ending]};base64,{base64.b64encode(content).decode()}"

        clean, cleaner = _cleaned(tree, as_data)
        if job.title:
            clean["meta"] = {"title": {"t": "MetaInlines", "c": [{"t": "Str", "c": job.title}]}}
        document = self._run_pandoc("json", "docx", json.dumps(clean).encode())
        confinement.confine_calls()
        finished = word.finish(
            self._docx,
            document,
            title=job.title or cleaner.heading or job.name,
            language=job.language,
            page_size=job.page_size,
        )
        return finished, list(cleaner.notes)

    def _pdf(self, job: Job, tree: dict[str, Any]) -> tuple[bytes, list[str]]:
        """Return the PDF; when Typst rejects the text, formulas and images are set as text."""
        files: dict[str, str] = {}

        def as_file(target: str) -> str:
            if target not in files:
                drawing = job.drawings.get(target)
                content, ending = (drawing.encode(), "svg") if drawing is not None else _image(target, job)
                files[target] = f"image-{len(files) + 1}.{ending}"
                (self._scratch / files[target]).write_bytes(content)
            return files[target]

        tries = [_cleaned(tree, as_file), _cleaned(tree, _as_text, math_as_code=True)]
        bodies = [self._run_pandoc("json", "typst", json.dumps(clean).encode()).decode() for clean, _ in tries]
        confinement.confine_calls()
        complaint = ""
        for body, (_, cleaner) in zip(bodies, tries, strict=True):
            title = job.title or cleaner.heading or job.name
            page = pdf.Page(title, job.title, job.language, job.page_size)
            try:
                document = pdf.set_pdf(self._typst, body, page=page, root=self._scratch, fonts=self._fonts)
            except pdf.NotSet as error:
                complaint = complaint or str(error)
                continue
            return document, list(cleaner.notes)
        raise Refused(f"The document could not be created: {complaint[:300]}.")

    def _run_pandoc(self, source: str, target: str, content: bytes) -> bytes:
        """Run one conversion, with neither files nor network, in bounded memory."""
        command = [
            str(self._pandoc), "+RTS", "-M768m", "-RTS", "--sandbox", "--syntax-highlighting=idiomatic",
            "-f", source, "-t", target, "-o", "-",
        ]  # fmt: skip
        environment = {"LC_ALL": "C.UTF-8", "HOME": str(self._scratch), "SOURCE_DATE_EPOCH": "315532800"}
        if target == "docx":
            command.remove("--syntax-highlighting=idiomatic")
        try:
            process = subprocess.run(  # noqa: S603 - pandoc itself, nothing of the text among the arguments
                command, input=content, capture_output=True, check=False, env=environment, timeout=PANDOC_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise Refused("It takes too long to read.") from error
        if process.returncode != 0:
            complaint = process.stderr.decode(errors="replace").strip()
            if "Heap exhausted" in complaint:
                raise Refused("It is too large or nested too deep.")
            raise Refused(f"It could not be converted: {complaint[:300]}.")
        return process.stdout


def has_nested_footnotes(markdown: str) -> bool:
    """Return whether a footnote refers to a footnote: pandoc 3.9 never ends when it refers to itself."""
    return "[^" in markdown and any("[^" in body for body in _FOOTNOTE.findall(markdown))


def _cleaned(tree: dict[str, Any], image_of: Any, *, math_as_code: bool = False) -> tuple[dict[str, Any], Cleaner]:  # noqa: ANN401
    cleaner = Cleaner(image_of, math_as_code=math_as_code)
    try:
        return cleaner.clean(tree), cleaner
    except (TooDeep, RecursionError) as error:
        raise Refused("It is nested too deep.") from error


def _image(target: str, job: Job) -> tuple[bytes, str]:
    try:
        return find_image(target, job.images)
    except NoImage as reason:
        raise Unusable(str(reason)) from reason


def _as_text(_target: str) -> str:
    raise Unusable("it could not be set")


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise LookupError(package)
    return Path(spec.origin).parent
