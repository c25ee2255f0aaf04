"""The kinds of connections. A new kind is one declaration in a module here, with its texts in the page."""

from types import MappingProxyType

from headgate.features.connections.catalogue import apis, oauth, servers, services, storages

_KINDS = (*apis.KINDS, *oauth.KINDS, *servers.KINDS, *storages.KINDS, *services.KINDS)
KINDS = MappingProxyType({kind.id: kind for kind in _KINDS})
"""Every kind by id, in the order of the gallery."""
