"""Errors of sources of knowledge bases."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound


class SourceNotFound(NotFound):
    """The base has no such source."""

    code = "knowledge_source_not_found"
    title = "Source not found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no source '{name[:100]}'.", remedy="List the sources of the knowledge base.")


class SourceNameTaken(Conflict):
    """Another source of the base has the name."""

    code = "knowledge_source_name_taken"
    title = "Name taken"
    detail = "The knowledge base has a source '{}' already."
    remedy = "Choose another name."


class SourceBusy(Conflict):
    """The source is being synchronised."""

    code = "knowledge_source_busy"
    title = "Synchronisation is running"
    detail = "The source '{}' is being synchronised."
    remedy = "Try again when that has ended."


class TooManySources(Conflict):
    """The base has as many sources as one may have."""

    code = "too_many_knowledge_sources"
    title = "Too many sources"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The knowledge base has {limit} sources, the limit.", remedy="Delete one.")


class NotOwner(Forbidden):
    """Only the owner of a source, and owners of its space, change it: it is read with its owner's connections."""

    code = "knowledge_source_of_another"
    title = "Source of another user"
    detail = "The source '{}' is another user's; it is read with that user's connections."
    remedy = "Ask its owner or an owner of the space, or add a source."


class SourceInvalid(Invalid):
    """The source cannot be read as it is set."""

    code = "knowledge_source_invalid"
    title = "Source invalid"
