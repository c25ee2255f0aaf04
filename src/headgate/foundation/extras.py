"""Optional dependencies (extras) of the distribution: which are installed, and the error when one is missing."""

from importlib.util import find_spec
from typing import Final

from headgate.foundation.errors import Invalid

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "amqp": ("amqp",),
    "aws-secrets": ("botocore",),
    "azure-secrets": ("azure.identity",),
    "calendars": ("icalendar", "recurring_ical_events"),
    "charts": ("matplotlib",),
    "code": (
        *("tree_sitter", "tree_sitter_go", "tree_sitter_java", "tree_sitter_javascript", "tree_sitter_python"),
        *("tree_sitter_rust", "tree_sitter_sql", "tree_sitter_typescript"),
    ),
    "documents": ("typst", "manimgx_fonts", "pypandoc"),
    "google-secrets": ("google.auth", "requests"),
    "duckdb": ("duckdb", "duckdb_sqlalchemy"),
    "git": ("dulwich",),
    "images": ("PIL",),
    "kafka": ("aiokafka", "cramjam"),
    "mail": ("aiosmtplib", "imap_tools"),
    "mssql": ("pytds", "sqlalchemy_pytds"),
    "mysql": ("pymysql",),
    "notify": ("apprise",),
    "ocr": ("PIL", "pypdfium2", "tesserocr"),
    "postgres": ("psycopg",),
    "redis": ("redis",),
    "sheets": ("python_calamine", "xlsxwriter"),
    "watch": ("watchfiles",),
    "storage": ("fsspec", "obstore", "sshfs", "webdav4"),
}
"""Extras that components need, and the modules that each one installs."""


class ExtraNotInstalled(Invalid):
    """A component needs an extra that is not installed."""

    code = "extra_not_installed"
    title = "Packages not installed"

    def __init__(self, extra: str, subject: str) -> None:
        super().__init__(
            f"{subject} requires packages that are not installed.",
            remedy=f"Install them with: pip install 'headgate[{extra}]'",
            extra_name=extra,
        )


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are installed, without importing them."""
    return all(_is_there(module) for module in EXTRAS[extra])


def require_extra(extra: str, subject: str) -> None:
    """Raise `ExtraNotInstalled`, naming the subject, unless the extra is installed."""
    if not is_installed(extra):
        raise ExtraNotInstalled(extra, subject)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package
        return False
