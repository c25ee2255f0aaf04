"""Which files of a tenant a query may find. No query on files runs without a reach, and only two things make one."""

from dataclasses import dataclass

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal


@dataclass(frozen=True, slots=True)
class Reach:
    """The files that one asker may open. Made by `reach_of` for a person, by `whole_tenant` for Headgate itself."""

    spaces: frozenset[str] | None = frozenset()
    """Spaces whose files they see; None: every space of the tenant."""
    owns: str | None = None
    """The user whose uploads are theirs; empty: uploads that have no owner; None: no uploads."""
    owns_shared: bool = True
    """Whether uploads of theirs that a space has taken count as theirs."""
    sealed: frozenset[str] = frozenset()
    """Ids of files that they hold by a seal."""
    everything: bool = False


def reach_of(principal: Principal) -> Reach:
    """Files of the spaces where they have `files.view`, their own uploads, and what they hold by a seal.

    Uploads count as somebody's own where they may see or upload files at all. A visitor without an account owns none:
    what has no owner belongs to who operates the installation. An API key for some spaces does not see its person's
    uploads that others of their spaces have taken.
    """
    brings = principal.in_scope(Permission.FILES_VIEW) or principal.in_scope(Permission.FILES_UPLOAD)
    known = bool(principal.user_id) or principal.access.admin
    return Reach(
        spaces=principal.spaces_where(Permission.FILES_VIEW),
        owns=principal.user_id if brings and known else None,
        owns_shared=principal.access.spaces is None,
        sealed=principal.access.files,
    )


def whole_tenant() -> Reach:
    """Every file of the tenant: for the engine and maintenance, with ids that Headgate itself stored."""
    return Reach(everything=True)
