"""Names of folders and tags."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from headgate.foundation.names import visible_name

LONGEST_FOLDER = 300
LONGEST_FOLDER_NAME = 60
DEEPEST = 5
LONGEST_TAG = 40
MOST_TAGS = 20
"""Tags of one flow."""


def folder_path(text: str) -> str:
    """Return a path without empty parts: `Finance/Invoices`; empty: no folder. Raises `ValueError`."""
    parts = [visible_name(part.strip()) for part in text.split("/") if part.strip()]
    if len(parts) > DEEPEST:
        raise ValueError(f"a folder is at most {DEEPEST} levels deep")
    if any(len(part) > LONGEST_FOLDER_NAME for part in parts):
        raise ValueError(f"the name of a folder has at most {LONGEST_FOLDER_NAME} characters")
    return "/".join(parts)


def tag_name(text: str) -> str:
    """Return a tag in lower case, in one form for all spellings. Raises `ValueError`."""
    return visible_name(text).lower()


Folder = Annotated[str, StringConstraints(max_length=LONGEST_FOLDER), AfterValidator(folder_path)]
"""Path of a folder in its space, its parts separated by `/`; empty: no folder."""
Tag = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TAG),
    AfterValidator(tag_name),
]
"""A tag, in lower case."""
