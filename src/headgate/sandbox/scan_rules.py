"""What own code may not use: plain data for `scan.py`. Each entry carries what to do instead.

The list is seed 000's (ADR-MCP-040) plus what the operating system refuses anyway, so that people read a sentence
instead of a PermissionError. It is a courtesy, not the wall: the wall is the worker's lockdown.
"""

from typing import Final

NETWORK = "The sandbox has no network; fetch with an HTTPRequest or URL component and connect its output to this node."
PROGRAMS = "The sandbox starts no programs; do the work in Python, or in a component made for it."
FILES = "Read files with a ReadFile component and save with SaveFile; this node gets and returns values."
ENVIRONMENT = "Pass the value in as an input; secrets belong in variables that components read."
NATIVE = "Use the standard library or an installed package instead."
DYNAMIC = "Write the code out, or read data with json.loads or ast.literal_eval."
INSIDES = "Work with the values themselves; the interpreter's insides are out of reach."

FORBIDDEN_MODULES: Final = {
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "posix", "nt", "_posixsubprocess"), PROGRAMS),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi"), NATIVE),
    **dict.fromkeys(
        (
            *("socket", "_socket", "socketserver", "ssl", "http.client", "http.server", "urllib.request", "ftplib"),
            *("smtplib", "imaplib", "poplib", "nntplib", "telnetlib", "xmlrpc", "webbrowser"),
            *("requests", "httpx", "httpx2", "aiohttp", "urllib3", "websockets"),
        ),
        NETWORK,
    ),
    **dict.fromkeys(("builtins", "importlib", "imp", "runpy", "code", "codeop", "pdb"), DYNAMIC),
    "headgate": "The platform is not importable from a node; `inputs` holds what the node gets.",
}
"""By full name; what lies below a forbidden module is forbidden with it."""

FORBIDDEN_NAMES: Final = {
    "open": FILES,
    "input": "Nobody sits at the sandbox; take the value from `inputs`.",
    "breakpoint": "There is no debugger in the sandbox; return what you want to see.",
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), DYNAMIC),
    **dict.fromkeys(("__builtins__", "__loader__", "__spec__"), INSIDES),
}

FORBIDDEN_MEMBERS: Final = {
    "os": {
        **dict.fromkeys(("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"), ENVIRONMENT),
        **dict.fromkeys(
            (
                *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"),
                *("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe"),
                *("spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"),
            ),
            PROGRAMS,
        ),
        **dict.fromkeys(("kill", "killpg", "abort", "_exit"), "Return a value, or raise an exception."),
    },
    "io": {"open": FILES, "FileIO": FILES, "open_code": FILES},
    "codecs": {"open": FILES},
    "sys": {"modules": INSIDES, "_getframe": INSIDES, "settrace": INSIDES, "setprofile": INSIDES},
}
"""Members of modules that are otherwise welcome."""

_ATTRIBUTES = """
    __subclasses__ __globals__ __builtins__ __base__ __bases__ __mro__ __code__ __closure__ __getattribute__
    f_globals f_locals f_builtins f_back gi_frame cr_frame tb_frame
"""
FORBIDDEN_ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())
"""On any object, and as text (for `getattr`)."""
