"""Using up what is shared: memory, disk, processor, threads, time; and crashing."""

from typing import Final

from headgate.foundation.errors import HeadgateError
from headgate.sandbox.errors import CodeFailed, CodeTimedOut, CodeTooBig
from tests.integration.sandbox.attacks.attack import Attack, attempt

_FILL_DISK = """
def run(inputs):
    for number in range(100_000):
        with open(f"file{number}", "wb") as file:
            file.write(b"x" * 10_000_000)
"""

_FILL_DISK_UNSEEN = """
def run(inputs):
    \"\"\"Files that have lost their names still take room; only so many can be open.\"\"\"
    held = []
    try:
        for number in range(1000):
            held.append(open("file", "wb"))
            os.unlink("file")
            held[-1].write(b"x")
    except OSError as error:
        return f"contained by {error} after {len(held)}" if len(held) < 64 else "ESCAPED"
"""

_MANY_FILES = """
def run(inputs):
    for number in range(10_000_000):
        open(f"file{number}", "w").close()
"""

_DEEP_FOLDERS = """
def run(inputs):
    while True:
        os.mkdir("deep")
        os.chdir("deep")
"""

_THREAD_BOMB = """
import threading
def run(inputs):
    threading.stack_size(32768)
    try:
        for number in range(20_000):
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    except RuntimeError as error:
        return f"contained by {error} after {number}" if number < inputs["most_threads"] else f"ESCAPED {number}"
    return "ESCAPED"
"""

_BUSY_THREADS = """
import threading
def run(inputs):
    for _ in range(4):
        threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
    time.sleep(60)
"""

_DESCRIPTOR_BOMB = """
def run(inputs):
    held = []
    try:
        while True:
            held.extend(os.pipe())
    except OSError as error:
        return f"contained by {error}" if len(held) < 64 else "ESCAPED"
"""

_ZIP_BOMB = """
import zlib
def run(inputs):
    packed = zlib.compress(b"\\0" * 10_000_000)
    return [zlib.decompress(packed) for _ in range(100)]
"""

_STACK_SMASH = """
def run(inputs):
    sys.setrecursionlimit(10 ** 9)
    def deeper(x):
        return [*map(deeper, [x])]
    return deeper(1)
"""

_IGNORE_SIGNALS = """
import signal
def run(inputs):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass
"""

RESOURCES: Final = (
    Attack(
        "memory bomb", "def run(inputs): return [bytes(10_000_000) for _ in range(10_000)]", CodeFailed, "MemoryError"
    ),
    Attack("map memory", "import mmap\ndef run(inputs): return mmap.mmap(-1, 1 << 40)", CodeFailed),
    Attack("one large string", "def run(inputs): return 'x' * (1 << 40)", CodeFailed, "MemoryError"),
    Attack("decompression bomb", _ZIP_BOMB, HeadgateError, timeout_seconds=60),
    Attack(
        "one long file", "def run(inputs):\n    open('f', 'wb').write(b'x' * 200_000_000)", CodeFailed, "File too large"
    ),
    Attack("sparse file", "def run(inputs):\n    open('f', 'wb').truncate(1 << 40)", CodeFailed, "File too large"),
    Attack("reserve disk", "def run(inputs):\n    os.posix_fallocate(os.open('f', 66), 0, 1 << 30)", CodeFailed),
    Attack("fill the disk", _FILL_DISK, CodeTooBig, "bytes of files"),
    Attack("fill the disk unseen", _FILL_DISK_UNSEEN),
    Attack("many files", _MANY_FILES, CodeTooBig, "files and folders"),
    Attack("deep folders", _DEEP_FOLDERS, CodeTooBig),
    Attack(
        "unremovable folder",
        "def run(inputs):\n    os.mkdir('a', 0o300)\n    os.mkdir('a/b', 0)\n    return 'contained'",
    ),
    Attack("endless loop", "def run(inputs):\n    while True: pass", CodeTimedOut, "0.5 s", timeout_seconds=0.5),
    Attack("endless sleep", "def run(inputs): time.sleep(600)", CodeTimedOut, "0.5 s", timeout_seconds=0.5),
    Attack("endless import", "while True: pass\ndef run(inputs): pass", CodeTimedOut, timeout_seconds=0.5),
    Attack("loop deaf to signals", _IGNORE_SIGNALS, CodeTimedOut, timeout_seconds=0.5),
    Attack("stop oneself", "def run(inputs): os.kill(os.getpid(), 19)", CodeTimedOut, timeout_seconds=0.5),
    Attack("busy threads", _BUSY_THREADS, CodeTimedOut, "processor time", timeout_seconds=100),
    Attack(
        "regular expression stall",
        "import re\ndef run(inputs): return re.match('(a+)+$', 'a' * 60 + 'b')",
        CodeTimedOut,
        timeout_seconds=0.5,
    ),
    Attack("big integer stall", "def run(inputs): return len(str(3 ** (3 ** 17)))", CodeTimedOut, timeout_seconds=0.5),
    Attack("huge output", "def run(inputs): return 'x' * 20_000_000", CodeTooBig, "20000002 bytes"),
    Attack("thread bomb", _THREAD_BOMB),
    Attack("descriptor bomb", _DESCRIPTOR_BOMB),
    Attack("deep recursion", "def run(inputs): return run(inputs)", CodeFailed, "RecursionError"),
    Attack("recursion without limit", _STACK_SMASH, CodeFailed),
    Attack("crash the interpreter", "import ctypes\ndef run(inputs): ctypes.string_at(0)", CodeFailed, "signal 11"),
    Attack("abort", "def run(inputs): os.abort()", CodeFailed, "signal 6"),
    Attack("leave with a status", "def run(inputs): os._exit(7)", CodeFailed, "status 7"),
    Attack("end oneself", "def run(inputs): os.kill(os.getpid(), 9)", CodeFailed, "signal 9"),
    attempt("lock memory", "mmap.mmap(-1, 1 << 20) and system_call(inputs['numbers']['mlockall'], 3)", imports="mmap"),
)
