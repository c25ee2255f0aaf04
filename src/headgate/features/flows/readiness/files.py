"""Files of a flow: run inputs, and files that an agent's file tools can read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.features.flows.readiness.answer import Need
from headgate.graph.check_graph import named
from headgate.graph.check_inputs import FILE_INPUT, fields_read
from headgate.graph.interpolate import texts_in
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import InputSource, InputType
from headgate.graph.tool_names import FILE_TOOLS
from headgate.graph.wiring import Wiring

_FILE_INPUTS = frozenset({InputType.IMAGE, InputType.AUDIO, InputType.DOCUMENT, InputType.FILE})
_BINARY = re.compile(
    r"[\w-]+\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|png|jpe?g|gif|webp|mp3|wav|m4a|mp4|zip)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about the files of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def file_findings(wiring: Wiring) -> Findings:
    """Return the files that a run needs, and warnings about unsuitable use of file tools."""
    return Findings(tuple(_text_only_issues(wiring)), tuple(_file_needs(wiring)))


def _file_needs(wiring: Wiring) -> Iterator[Need]:
    for key in wiring.steps:
        node = wiring.nodes[key]
        if node.type == FILE_INPUT:
            names = fields_read(node) or [""]
        elif node.policy.input_source is InputSource.FLOW_INPUT and node.policy.input_type in _FILE_INPUTS:
            names = [""]
        else:
            continue
        for name in names:
            yield Need(kind="file", name=name, state="unknown", nodes=(key,))


def _text_only_issues(wiring: Wiring) -> Iterator[Issue]:
    """Return steps that mention a binary file and only have the workspace's tools, which handle text."""
    for key in wiring.steps:
        attached = [wiring.nodes[attachment.edge.source] for attachment in wiring.attachments(key)]
        if not any(node.type == FILE_TOOLS for node in attached):
            continue
        node = wiring.nodes[key]
        match = next((mention for text in texts_in(node.params) if (mention := _BINARY.search(text))), None)
        if match is not None:
            yield Issue(
                IssueCode.TEXT_FILES_ONLY,
                f"{named(node)} refers to '{match[0][:80]}', but the tools of WorkspaceFiles read and write text only.",
                "Read such a file with FileInput and ReadFile; create one with MakeDocument or SaveFile.",
                key,
                severity="warning",
            )
