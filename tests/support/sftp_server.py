"""A real SFTP server on loopback: asyncssh in a thread."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import asyncssh

USER, PASSWORD = "ann", "sftp-password"


@dataclass(frozen=True)
class SftpServer:
    """The server: its folder, its port, its public key and the private key that it accepts."""

    folder: Path
    port: int
    host_key: str
    private_key: str


class _Server(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


@contextmanager
def sftp_server(folder: Path) -> Iterator[SftpServer]:
    """A server, up. Its paths begin in a folder, and it runs no commands."""
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    ready, loop = Event(), asyncio.new_event_loop()
    servers: list[asyncssh.SSHAcceptor] = []
    keys = asyncssh.import_authorized_keys(user.export_public_key().decode())

    async def serve() -> None:
        server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=_Server,
            server_host_keys=[host],
            authorized_client_keys=keys,
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode()),
        )
        servers.append(server)
        ready.set()

    async def end() -> None:
        servers[0].close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.05)

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(serve())
        loop.run_forever()

    thread = Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield SftpServer(
            folder, servers[0].get_port(), host.export_public_key().decode().strip(), user.export_private_key().decode()
        )
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
