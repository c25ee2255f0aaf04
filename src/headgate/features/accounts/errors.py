"""What can go wrong with tenants, users and spaces."""

from headgate.foundation.errors import Conflict, NotFound


class AccountNotFound(NotFound):
    """The asker's tenant, user or space is gone."""

    code = "account_not_found"
    title = "Account not found"


class SpaceNameTaken(Conflict):
    """The tenant has a space of that name."""

    code = "space_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a space called '{name}' already.", remedy="Choose another name.")
