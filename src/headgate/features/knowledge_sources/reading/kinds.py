"""How each kind of source is opened."""

from headgate.features.knowledge_sources.reading.mailboxes import open_mail
from headgate.features.knowledge_sources.reading.protocol import Open
from headgate.features.knowledge_sources.reading.repositories import open_repository
from headgate.features.knowledge_sources.reading.rows import open_rows
from headgate.features.knowledge_sources.reading.storages import open_files
from headgate.features.knowledge_sources.reading.web import open_pages
from headgate.features.knowledge_sources.schemas import (
    AnySource,
    GitSource,
    MailSource,
    SqlSource,
    StorageSource,
    WebSource,
)

OPENERS: dict[type[AnySource], Open] = {
    StorageSource: open_files,
    GitSource: open_repository,
    WebSource: open_pages,
    SqlSource: open_rows,
    MailSource: open_mail,
}
