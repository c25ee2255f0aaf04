"""Visibility of a tenant's files. Every query on files requires a `Reach`, and only two functions create one."""

from dataclasses import dataclass

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal


@dataclass(frozen=True, slots=True)
class Reach:
    """The files that a caller may open. Created by `reach_of` for users, by `entire_tenant` for Headgate itself."""

    spaces: frozenset[str] | None = frozenset()
    """Spaces whose files are visible; None: every space of the tenant."""
    owns: str | None = None
    """The user whose uploads are visible; empty: uploads without an owner; None: no uploads."""
    owns_shared: bool = True
    """Whether own uploads that belong to a space are visible."""
    sealed: frozenset[str] = frozenset()
    """Ids of files allowed by a seal."""
    everything: bool = False


def reach_of(principal: Principal) -> Reach:
    """Return the files of spaces with `files.view`, the caller's uploads, and files allowed by a seal.

    Uploads are included when the caller may view or upload files at all. An anonymous visitor owns none: files without
    an owner belong to the operator. An API key restricted to spaces does not see its user's uploads that belong to
    other spaces.
    """
    brings = principal.in_scope(Permission.FILES_VIEW) or principal.in_scope(Permission.FILES_UPLOAD)
    is_identified = bool(principal.user_id) or principal.access.admin
    return Reach(
        spaces=principal.spaces_where(Permission.FILES_VIEW),
        owns=principal.user_id if brings and is_identified else None,
        owns_shared=principal.access.spaces is None,
        sealed=principal.access.files,
    )


def entire_tenant() -> Reach:
    """Return every file of the tenant: for the engine and maintenance, with ids that Headgate itself stored."""
    return Reach(everything=True)
