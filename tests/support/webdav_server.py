"""A real WebDAV server on loopback: WsgiDAV on Cheroot, in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from cheroot.wsgi import Server
from wsgidav.fs_dav_provider import FilesystemProvider
from wsgidav.wsgidav_app import WsgiDAVApp

USER, PASSWORD = "ann", "webdav-password"


@dataclass(frozen=True)
class WebdavServer:
    """The server: its folder and address."""

    folder: Path
    url: str


@contextmanager
def webdav_server(folder: Path) -> Iterator[WebdavServer]:
    """A server, up."""
    app = WsgiDAVApp(
        {
            "provider_mapping": {"/dav": FilesystemProvider(str(folder), readonly=False)},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
            "verbose": 0,
            "logging": {"enable": False},
            "fs_dav_provider": {"follow_symlinks": False},
        }
    )

    server = Server(("127.0.0.1", 0), app, numthreads=4)
    server.prepare()
    thread = Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield WebdavServer(folder, f"http://127.0.0.1:{server.bind_addr[1]}/dav")
    finally:
        server.stop()
        thread.join(10)
