"""Errors of document generation.

Invalid
├── DocumentsNotInstalled   the extra is not installed
└── DocumentNotMade         the text cannot be converted, or the converter crashed on it
TooLarge
└── DocumentTooLarge        text, images or result exceed their limit
Unavailable
└── DocumentTimedOut        it took too long and was stopped
"""

from headgate.foundation.errors import Invalid, TooLarge, Unavailable


class DocumentsNotInstalled(Invalid):
    """The extra with the packages for documents is not installed."""

    code = "documents_not_installed"
    title = "Document making not installed"
    remedy = "Install them with: pip install 'headgate[documents]'"

    def __init__(self, what: str = "Creating PDF and Word documents") -> None:
        super().__init__(f"{what} requires packages that are not installed.", extra_name="documents")


class DocumentNotMade(Invalid):
    """The Markdown could not be converted to a document."""

    code = "document_not_made"
    title = "Document not created"


class DocumentTooLarge(TooLarge):
    """The Markdown, its images or the document exceed their limit."""

    code = "document_too_large"
    title = "Document too large"


class DocumentTimedOut(Unavailable):
    """The document generation took too long and was stopped."""

    code = "document_timed_out"
    title = "Document took too long"
