"""Manifest of a pack: what it is, what it declares to reach, and the hash of each of its files."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from headgate.foundation.names import HIDDEN, Name

FORMAT = 1
FOLDER = "headgate-pack"
MANIFEST, SIGNATURE = "manifest.json", "signature.json"
MOST_ARCHIVE_BYTES = 2 << 20
MOST_ENTRIES = 2_000
"""Entries of the archive, including those of a wheel that are not read."""
MOST_FILES = 100
MOST_FILE_BYTES = 200_000
MOST_BYTES = 4 << 20
"""Maximum total size of the uncompressed files."""
MOST_WORDS = 2_000
MOST_SKILL_BYTES = 20_000
"""Of a skill: it is part of every request of its phases."""
SKILL_PHASES = ("discover", "plan", "patch", "test")
"""Phases of the development agent; headings of a skill."""
_PARTS = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")

PackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=40)]
Version = Annotated[str, StringConstraints(pattern=r"^(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){2}$")]
FilePath = Annotated[
    str,
    StringConstraints(
        pattern=r"^(components/[a-z][a-z0-9_]{0,59}\.py|templates/[a-z][a-z0-9-]{0,39}\.flow"
        r"|connections/[a-z][a-z0-9-]{0,39}\.json|translations/(sv)\.json"
        r"|skills/[a-z][a-z0-9-]{0,39}\.md)$"
    ),
]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Host = Annotated[str, StringConstraints(pattern=r"^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$", max_length=255)]
Library = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,60}$")]


def require_visible(text: str) -> str:
    """Return the text. Raises `ValueError` for a control, invisible or direction character."""
    hidden = HIDDEN.search(text)
    if hidden is not None:
        raise ValueError(f"the text contains the hidden character U+{ord(hidden[0]):04X}")
    return text


Prose = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(require_visible)]


def version_key(version: str) -> tuple[int, ...]:
    """Return a version in comparable form: `1.10.0` is above `1.9.0`. Raises `ValueError`."""
    parts = _PARTS.match(version)
    if parts is None:
        raise ValueError("a version has three numbers, such as 1.0.0")
    return tuple(int(part) for part in parts.groups())


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HeadgateRange(_Strict):
    """Versions of Headgate that a pack works with."""

    since: Version
    below: Version | None = None

    def includes(self, version: str) -> bool:
        """Return whether a version is in the range."""
        number = version_key(version)
        return version_key(self.since) <= number and (self.below is None or number < version_key(self.below))


class PackFacts(_Strict):
    """What an author declares of a pack."""

    name: PackName
    version: Version
    title: Annotated[Name, Field(max_length=100)]
    description: Prose = ""
    author: Annotated[Name, Field(max_length=100)] | None = None
    headgate: HeadgateRange
    hosts: Annotated[tuple[Host, ...], Field(max_length=50)] = ()
    """Hosts that its components may connect to. The operator must allow them as well."""
    libraries: Annotated[tuple[Library, ...], Field(max_length=50)] = ()
    """Modules that its components import in addition to the standard library and `headgate.sdk`."""


class PackManifest(PackFacts):
    """The manifest in an archive."""

    format: Literal[1]
    files: Annotated[dict[FilePath, Digest], Field(min_length=1, max_length=MOST_FILES)]
    """Path to SHA-256; the folder says what a file is."""


class ConnectionPreset(_Strict):
    """A kind of connections of a pack: a built-in kind with prepared values. Connections of it need no pack later."""

    label: Annotated[Name, Field(max_length=80)]
    description: Prose = ""
    kind: Annotated[str, StringConstraints(max_length=40)]
    fields: Annotated[dict[str, JsonValue], Field(max_length=30)] = {}
    """Values of fields that are no secret; users may change them."""
    keywords: Annotated[tuple[Annotated[Name, Field(max_length=40)], ...], Field(max_length=20)] = ()
