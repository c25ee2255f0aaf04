"""Abuse of the network that a component may have.

`port` is a server that nobody may reach; `allowed` is the port of one at `api.test` that the manifest names. Of the
names, `inner.test` and `metadata.test` have addresses that are refused, `mixed.test` one of each kind, `rebind.test`
another one at each look-up, and `slow.test` none for a long time.
"""

from typing import Final

from headgate.sandbox.errors import CodeTimedOut
from tests.integration.sandbox.attacks.attack import Attack, attempt

HELP = '''
import socket, json, _socket

def line():
    """The descriptor on which this worker asks for connections: the other socket."""
    import stat
    found = [number for number in range(3, 64) if is_socket(number)]
    return next(n for n in found if socket.socket(fileno=os.dup(n)).type == socket.SOCK_SEQPACKET)

def is_socket(number):
    import stat
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False

def reach(host, port, seconds=2):
    return socket.create_connection((host, port), seconds).getpeername()

def ask(question):
    data = question if isinstance(question, bytes) else json.dumps(question).encode()
    os.write(line(), data)
    return os.read(line(), 4096).decode()

def hung_up(question):
    """Contained when the server hangs up rather than answer."""
    said = ask(question)
    return "contained: it hung up" if not said else "ESCAPED with " + said

def refused(question):
    """What the server answers, where it answers with an error."""
    said = json.loads(ask(question))
    if "error" in said:
        raise OSError(said["error"])
    return said

def passed(inputs):
    """A connection that the server made for us."""
    return socket.create_connection(("api.test", inputs["allowed"]), 2)
'''


def _reach(
    name: str, host: str, port: str = "inputs['allowed']", words: str = "are not allowed: its address is"
) -> Attack:
    return attempt(name, f"reach({host!r}, {port})", words=words)


def _run(
    name: str, body: str, words: str = "", expected: type[CodeTimedOut] | None = None, seconds: float = 5.0
) -> Attack:
    return Attack(name, f"def run(inputs):\n    {body}\n", expected=expected, words=words, timeout_seconds=seconds)


def _question(**changed: str) -> str:
    members = {"id": "1", "host": "'api.test'", "port": "inputs['allowed']", "seconds": "1"} | changed
    return "{" + ", ".join(f"{key!r}: {value}" for key, value in members.items()) + "}"


_FAR = "b'\\x02\\0' + inputs['port'].to_bytes(2, 'big') + b'\\x7f\\0\\0\\1' + bytes(8)"
_ELSEWHERE = f"system_call(inputs['numbers']['connect'], {{}}, {_FAR}, 16)"

BROKER: Final = (
    _reach("ask for a host that is not named", "other.test", words="is not one of the hosts in the code's manifest"),
    _reach(
        "ask for another port", "api.test", "inputs['port']", words=("is not one of the hosts in the code's manifest")
    ),
    _reach("ask for a subdomain", "x.api.test", words="is not one of the hosts in the code's manifest"),
    _reach("ask for a longer name", "api.test.evil.test", words="is not one of the hosts in the code's manifest"),
    _reach(
        "ask for what the operator closes",
        "closed.test",
        words=("is not one of the hosts that the operator allows for custom code"),
    ),
    _reach("ask for a private address by name", "inner.test"),
    _reach("ask for the cloud's metadata by name", "metadata.test"),
    _reach("ask for the cloud's metadata by number", "169.254.169.254"),
    _reach("ask for a private address by number", "10.0.0.7"),
    _reach("ask for this machine by another number", "127.0.0.2"),
    _reach("ask in one number", "2130706434"),
    _reach("ask in hexadecimal", "0x7f.2"),
    _reach("ask in octal", "0177.0.0.2"),
    _reach("ask for nothing", "0.0.0.0"),
    _reach("ask for this machine in IPv6", "::1"),
    _reach("ask for a mapped address", "::ffff:127.0.0.2"),
    _reach("ask for a mapped address in hexadecimal", "::ffff:7f00:2"),
    _reach("ask by NAT64", "64:ff9b::7f00:2"),
    _reach("ask by 6to4", "2002:7f00:2::1"),
    _reach("ask for a name with good and bad addresses", "mixed.test"),
    _run(
        "have the name answer otherwise the second time",
        "first = reach('rebind.test', inputs['allowed'])\n    "
        "return attempt(lambda: [reach('rebind.test', inputs['allowed']) for _ in range(3)])",
        words="are not allowed: its address is",
    ),
    _run(
        "have the look-up last",
        "reach('slow.test', inputs['allowed'], None)",
        words="took longer",
        expected=CodeTimedOut,
        seconds=0.5,
    ),
    *(
        _reach(f"ask for a host written as {host!r}", host, words="Error")
        for host in (
            *("api.test\0.evil", "api.test\n", "other.test#api.test", "api.test@other.test", "api.test/../other.test"),
            *("api.test.", "", "*", "*.test", "api%2etest", "ａｐｉ.test:80", "a" * 300, "127.0.0.1 ", "[::1]"),
        )
    ),
    *(
        attempt(f"ask for port {port}", f"refused({_question(port=port)})", words="OSError")
        for port in ("0", "-1", "65536", "10 ** 18", "True")
    ),
    *(
        _run(f"ask with {name}", f"return hung_up({question})")
        for name, question in {
            "bytes that are no text": "b'\\xff' * 100",
            "bytes of a pickle": "b'\\x80\\x04cos\\nsystem\\n(S\"true\"\\ntR.'",
            "nothing": "b''",
            "too much": "b'{' + b' ' * 100_000",
            "endless nesting": "b'[' * 2000",
            "a list": "[1]",
            "no host": _question(host="None"),
            "a host that is a list": _question(host="['api.test']"),
            "a port that is text": _question(port="'80'"),
            "a port that is not whole": _question(port="80.5"),
            "an endless number": 'b\'{"id": 1, "host": "api.test", "port": 1e999, "seconds": 1}\'',
            "no number as a time": 'b\'{"id": 1, "host": "api.test", "port": 80, "seconds": NaN}\'',
            "an id that is an object": _question(id="{}"),
            "half a character": 'b\'{"id": 1, "host": "\\\\ud800", "port": 80, "seconds": 1}\'',
        }.items()
    ),
    _run(
        "ask without end",
        f"number, answers = line(), 0\n    question = json.dumps({_question(host=repr('other.test'))}).encode()\n"
        "    try:\n        while os.write(number, question) and os.read(number, 4096):\n            answers += 1\n"
        "    except BrokenPipeError:\n        pass\n    return f'contained: hung up after {answers}'",
        words="hung up after 256",
    ),
    attempt(
        "ask without listening",
        f"[os.write(n, json.dumps({_question()}).encode()) for n in [line()] for _ in range(100_000)]",
        words="Error",
    ),
    attempt(
        "keep more connections than are given", "[passed(inputs) for _ in range(33)]", words="opened 32 connections"
    ),
    _run(
        "leave connections half open",
        "kept = [passed(inputs) for _ in range(32)]; return 'contained: they end with it'",
    ),
    attempt("hang up", "[os.close(line()), reach('api.test', inputs['allowed'])]"),
    attempt("put something else in the line's place", "[os.dup2(0, line()), reach('api.test', inputs['allowed'])]"),
    attempt(
        "pass descriptors to the server",
        "system_call(inputs['numbers']['sendmsg'], line(), bytes(56), 0)",
        words="PermissionError",
    ),
    attempt(
        "pass descriptors by the library",
        "socket.send_fds(socket.socket(fileno=os.dup(line())), [b'x'], [0])",
        words="PermissionError",
    ),
    attempt(
        "take descriptors from somewhere else",
        "socket.recv_fds(socket.socketpair()[0], 10, 1)",
        words="PermissionError",
    ),
    attempt(
        "learn who serves",
        "socket.socket(fileno=os.dup(line())).getsockopt(1, 17, 12)",
        words="PermissionError",
    ),
    attempt(
        "lead the line elsewhere", "_socket.socket.connect(socket.socket(fileno=os.dup(line())), inputs['socket'])"
    ),
    attempt(
        "connect with the library's own function",
        "_socket.socket.connect(socket.socket(), ('127.0.0.1', inputs['port']))",
        words="PermissionError",
    ),
    attempt("connect by number", _ELSEWHERE.format("socket.socket().fileno()"), words="PermissionError"),
    attempt(
        "lead a passed connection elsewhere", _ELSEWHERE.format("passed(inputs).fileno()"), words="PermissionError"
    ),
    attempt(
        "dissolve a passed connection",
        "system_call(inputs['numbers']['connect'], passed(inputs).fileno(), bytes(16), 16)",
        words="PermissionError",
    ),
    attempt("bind a passed connection", "passed(inputs).bind(('127.0.0.1', 0))", words="PermissionError"),
    attempt("listen on a new socket", "socket.socket().listen()", words="PermissionError"),
    attempt(
        "connect while sending",
        "socket.socket().sendto(b'leak', 0x20000000, ('127.0.0.1', inputs['port']))",
        words="PermissionError",
    ),
    *(
        attempt(f"set the option {name}", f"passed(inputs).setsockopt({level}, {option}, 1)", words="PermissionError")
        for name, level, option in (
            *(("SO_BINDTODEVICE", 1, 25), ("SO_MARK", 1, 36), ("SO_RCVBUFFORCE", 1, 33), ("SO_ATTACH_FILTER", 1, 26)),
            *(("TCP_FASTOPEN_CONNECT", 6, 30), ("TCP_REPAIR", 6, 19), ("TCP_ULP", 6, 31), ("IP_OPTIONS", 0, 4)),
        )
    ),
    *(
        attempt(f"make a socket of kind {name}", f"socket.socket({arguments})", words="Error")
        for name, arguments in {
            "UDP": "socket.AF_INET, socket.SOCK_DGRAM",
            "raw": "socket.AF_INET, socket.SOCK_RAW, 1",
            "Unix": "socket.AF_UNIX",
            "netlink": "socket.AF_NETLINK, socket.SOCK_RAW",
            "packet": "socket.AF_PACKET, socket.SOCK_RAW",
            "kernel crypto": "socket.AF_ALG, socket.SOCK_SEQPACKET",
            "virtual machine": "socket.AF_VSOCK",
            "MPTCP": "socket.AF_INET, socket.SOCK_STREAM, 262",
            "SCTP": "socket.AF_INET, socket.SOCK_STREAM, 132",
        }.items()
    ),
    attempt("take a neighbour's connections", "os.listdir(f'/proc/{inputs[\"server\"]}/fd')", words="PermissionError"),
    attempt("take the zygote's lines", "os.open(f'/proc/{os.getppid()}/fd/3', os.O_RDWR)", words="PermissionError"),
    attempt("open own line anew", "os.open(f'/proc/self/fd/{line()}', os.O_RDWR)", words="Error"),
    attempt(
        "go by a proxy",
        "os.environ.update(http_proxy=f'http://127.0.0.1:{inputs[\"port\"]}') or "
        "urllib.request.urlopen(f'http://api.test:{inputs[\"allowed\"]}/')",
        imports="os, urllib.request",
        words="is not one of the hosts in the code's manifest",
    ),
    attempt(
        "hide the host behind a user's name",
        "urllib.request.urlopen(f'http://api.test@other.test:{inputs[\"allowed\"]}/')",
        imports="os, urllib.request",
        words="Error",
    ),
    attempt(
        "be led elsewhere by the server",
        "urllib.request.urlopen(f'http://api.test:{inputs[\"allowed\"]}/away')",
        imports="os, urllib.request",
        words="is not one of the hosts in the code's manifest",
    ),
    attempt(
        "look up names for oneself",
        "ctypes.CDLL(None).getaddrinfo(b'other.test', None, None, ctypes.byref(ctypes.c_void_p())) and "
        "(_ for _ in ()).throw(OSError('no look-up'))",
        imports="os, ctypes",
        words="no look-up",
    ),
)
