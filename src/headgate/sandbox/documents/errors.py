"""What can go wrong when a document is made.

Invalid
├── DocumentsNotInstalled   the extra is not there
└── DocumentNotMade         the text cannot be set, or the converter crashed on it
TooLarge
└── DocumentTooLarge        text, images or result over their limit
Unavailable
└── DocumentTimedOut        it took too long and was stopped
"""

from headgate.foundation.errors import Invalid, TooLarge, Unavailable


class DocumentsNotInstalled(Invalid):
    """The packages that make documents are an extra that is not installed."""

    code = "documents_not_installed"
    title = "Document making not installed"

    def __init__(self, what: str = "Making PDF and Word documents") -> None:
        super().__init__(
            f"{what} needs packages that are not installed.",
            remedy="Install them with: pip install 'headgate[documents]'",
            extra_name="documents",
        )


class DocumentNotMade(Invalid):
    """The Markdown could not be made into a document."""

    code = "document_not_made"
    title = "Document not made"


class DocumentTooLarge(TooLarge):
    """The Markdown, its images or the document are over their limit."""

    code = "document_too_large"
    title = "Document too large"


class DocumentTimedOut(Unavailable):
    """Making the document took too long; it was stopped."""

    code = "document_timed_out"
    title = "Document took too long"
