"""What can go wrong with tenants, users and spaces."""

from headgate.foundation.errors import NotFound


class AccountNotFound(NotFound):
    """The asker's tenant, user or space is gone."""

    code = "account_not_found"
    title = "Account not found"
