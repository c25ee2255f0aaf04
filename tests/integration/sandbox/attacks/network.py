"""Talking to anybody. `port` is a TCP server on this machine, `socket` and `abstract` name listening Unix sockets."""

from typing import Final

from tests.integration.sandbox.attacks.attack import Attack, attempt

_UDP = """
import socket
def run(inputs):
    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            return out.sendto(b"leak", ("127.0.0.1", inputs["port"]))
    return attempt(send)
"""

_LISTEN = """
import socket
def run(inputs):
    def listen():
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            return server.getsockname()
    return attempt(listen)
"""

_PATH_SOCKET = """
import socket
def run(inputs):
    def connect():
        with socket.socket(socket.AF_UNIX) as out:
            return out.connect(inputs["{which}"])
    return attempt(connect)
"""

_RAW = """
import socket
def run(inputs):
    return attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
"""

_PAIR_TO_NETWORK = """
import socket
def run(inputs):
    \"\"\"A pair is allowed; leading it elsewhere is not.\"\"\"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        return attempt(lambda: ours.connect(inputs["socket"]))
"""

_DATAGRAM_PAIR = """
import socket
def run(inputs):
    def send():
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with ours, theirs:
            return ours.sendto(b"leak", inputs["socket"])
    return attempt(send)
"""

_PROTOCOL_SOCKET_ELSEWHERE = """
import socket
def run(inputs):
    \"\"\"Lead the worker's own socket elsewhere.\"\"\"
    import stat
    results = []
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                own = socket.socket(fileno=os.dup(descriptor))
                results.append(attempt(lambda: own.connect(inputs["socket"])))
                own.detach()
        except OSError:
            pass
    return next((result for result in results if "ESCAPED" in result), "contained " + str(results))
"""

_PEER = """
import socket, stat
def run(inputs):
    \"\"\"Ask the protocol socket for a descriptor of the server's process (SO_PEERPIDFD) or its identity.\"\"\"
    results = []
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                own = socket.socket(fileno=os.dup(descriptor))
                results += [attempt(lambda: own.getsockopt(1, option, 12)) for option in (17, 77)]
        except OSError:
            pass
    return next((result for result in results if "ESCAPED" in result), "contained " + str(results))
"""

_HTTP = """
import urllib.request
def run(inputs):
    return attempt(lambda: urllib.request.urlopen(f"http://127.0.0.1:{inputs['port']}/", timeout=2).read())
"""

_PASS_DESCRIPTORS = """
import socket
def run(inputs):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        return attempt(lambda: socket.send_fds(ours, [b"x"], [0]))
"""

NETWORK: Final = (
    attempt(
        "connect by TCP",
        "socket.create_connection(('127.0.0.1', inputs['port']), 2).getpeername()",
        imports="socket",
        escapes_outside=True,
    ),
    attempt("resolve a name", "socket.getaddrinfo('example.org', 80)", imports="socket"),
    attempt("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", imports="socket", escapes_outside=True),
    Attack("send by UDP", _UDP, escapes_outside=True),
    Attack("listen", _LISTEN, escapes_outside=True),
    Attack("connect to a Unix socket", _PATH_SOCKET.format(which="socket"), escapes_outside=True),
    Attack("connect to an abstract Unix socket", _PATH_SOCKET.format(which="abstract"), escapes_outside=True),
    Attack("raw socket", _RAW),
    Attack("lead a socket pair elsewhere", _PAIR_TO_NETWORK),
    Attack("send from a datagram pair", _DATAGRAM_PAIR),
    Attack("lead the protocol socket elsewhere", _PROTOCOL_SOCKET_ELSEWHERE),
    Attack("fetch by HTTP", _HTTP),
    Attack("take the server by its socket", _PEER, escapes_outside=True),
    Attack("pass descriptors", _PASS_DESCRIPTORS, escapes_outside=True),
)
