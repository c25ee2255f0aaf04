"""Walks through the interpreter's insides, and hooks put into it: whatever is reached, the system says no."""

from typing import Final

from headgate.sandbox.errors import CodeFailed, CodeTooBig
from tests.integration.sandbox.attacks.attack import Attack, attempt

_READ_ALL = """
import gc
def run(inputs):
    \"\"\"Look through every object of this process for what belongs to the server.\"\"\"
    found = [one for one in gc.get_objects() if isinstance(one, dict)]
    texts = {value for one in found for value in list(one.values()) if isinstance(value, str)}
    secrets = [text for text in texts if text == "the secret" or text.startswith(("HEADGATE_", "sk-"))]
    return f"ESCAPED with {secrets}" if secrets else "contained: nothing was there"
"""

_FRAMES = """
def run(inputs):
    \"\"\"Climb to the worker's own frames and use the files and sockets that they know.\"\"\"
    frame, names = sys._getframe(), set()
    while frame:
        names |= {str(value) for value in frame.f_locals.values() if isinstance(value, str)}
        last, frame = frame, frame.f_back
    return attempt(lambda: last.f_builtins["open"](inputs["secret"]).read())
"""

_HOOK = """
import importlib.abc, importlib.machinery
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, origin=INPUTS["secret"])
    def create_module(self, spec): return None
    def exec_module(self, module): module.stolen = open(module.__spec__.origin).read()
def run(inputs):
    global INPUTS
    INPUTS = inputs
    sys.meta_path.insert(0, Finder())
    def load():
        import surely_not_there
        return surely_not_there.stolen
    return attempt(load)
"""

_FROM_FILE = """
import importlib.util
def run(inputs):
    def load():
        spec = importlib.util.spec_from_file_location("taken", inputs["source"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return attempt(load)
"""

_POISON = """
import json
class Liar:
    JSONDecodeError = ValueError
    @staticmethod
    def dumps(*args, **kwargs): raise SystemExit(3)
    @staticmethod
    def loads(*args, **kwargs): raise SystemExit(3)
def run(inputs):
    \"\"\"What the worker itself will ask for is another's now.\"\"\"
    for name, module in list(sys.modules.items()):
        if getattr(module, "json", None) is json and name.startswith("headgate"):
            module.json = Liar
    sys.modules["json"] = Liar
    return 1
"""

_PATCH_WORKER = """
def run(inputs):
    \"\"\"Switch the worker's own check of the size off.\"\"\"
    for name, module in list(sys.modules.items()):
        if name.endswith("guest.calls"):
            module.ENVELOPE_BYTES = -(1 << 40)
    return "x" * (9 << 20)
"""

_PICKLE = """
import pickle
class Program:
    def __reduce__(self): return (open, (PATH,))
def run(inputs):
    global PATH
    PATH = inputs["secret"]
    return attempt(lambda: pickle.loads(pickle.dumps(Program())).read())
"""

_CODE_OBJECT = """
import types
def run(inputs):
    def harmless(): return 0
    def read(): return open(PATH).read()
    harmless.__globals__["PATH"] = inputs["secret"]
    harmless.__code__ = read.__code__
    return attempt(harmless)
"""

_WRITE_MEMORY = """
import ctypes
def run(inputs):
    \"\"\"Make the kernel write where it may: through this process's own memory file.\"\"\"
    def write():
        with open("/proc/self/mem", "r+b", 0) as memory:
            memory.seek(id(run))
            return memory.write(b"x" * 8)
    return attempt(write)
"""

INTERPRETER: Final = (
    attempt("walk to a class that opens files", "[c for c in ().__class__.__base__.__subclasses__() "
            "if c.__name__ == 'FileLoader'][0]('x', inputs['secret']).get_data(inputs['secret'])",
            imports="os, importlib.machinery", escapes_outside=True),
    attempt("walk to the built-ins", "run.__globals__['__builtins__']['open'](inputs['secret']).read()",
            escapes_outside=True),
    attempt("walk from a function of a library", "os.path.join.__globals__['os'].open(inputs['secret'], 0)",
            escapes_outside=True),
    attempt("walk to a shell", "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
            ".__init__.__globals__['posix_spawn']('/bin/true', ['true'], {})", escapes_outside=True),
    attempt("walk from an exception's frame", "[f for f in [sys._getframe()]][0].f_builtins['open'](inputs['secret'])",
            escapes_outside=True),
    attempt("import by the loader's own hand", "__loader__ if False else sys.modules['builtins'].__import__('posix')"
            ".open(inputs['secret'], 0)", escapes_outside=True),
    attempt("format a way in", "'{0.__class__.__init__.__globals__[os].environ}'.format(os._wrap_close(None, None)) "
            "if False else os.open('/proc/1/environ', 0)"),
    attempt("rebuild a module from its source", "__import__('importlib').reload(__import__('importlib').import_module("
            "'headgate.sandbox.guest.worker'))"),
    attempt("import the platform by its folder", "sys.path.insert(0, sys.modules['headgate'].__path__[0] + '/..') or "
            "__import__('headgate.foundation.crypto')"),
    attempt("call the interpreter by ctypes", "(_ for _ in ()).throw(PermissionError('it said no')) "
            "if ctypes.pythonapi.PyRun_SimpleString(f\"open({inputs['secret']!r})\".encode()) else 'ran'",
            imports="os, ctypes", escapes_outside=True),
    attempt("open by ctypes", "os.read(ctypes.CDLL(None).open(inputs['secret'].encode(), 0), 9)",
            imports="os, ctypes", escapes_outside=True),
    attempt("run by ctypes", "(_ for _ in ()).throw(PermissionError('system')) if ctypes.CDLL(None).system(b'true') "
            "else 'ran'", imports="os, ctypes", escapes_outside=True),
    Attack("look through every object", _READ_ALL),
    Attack("climb the frames", _FRAMES, escapes_outside=True),
    Attack("hook the imports", _HOOK, escapes_outside=True),
    Attack("import a file by its path", _FROM_FILE),
    Attack("poison what the worker imports", _POISON, CodeFailed, "ended its own process"),
    Attack("patch the worker", _PATCH_WORKER, CodeTooBig, "limit"),
    Attack("open out of a pickle", _PICKLE, escapes_outside=True),
    Attack("swap the code of a function", _CODE_OBJECT, escapes_outside=True),
    Attack("write own memory by file", _WRITE_MEMORY),
)  # fmt: skip
