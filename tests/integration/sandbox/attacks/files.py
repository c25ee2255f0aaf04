"""Reading and changing files that are nobody's business here.

`secret` is a file everybody may read, `outside` a folder everybody may write in, `canary` a file in it that everybody
may write: only the sandbox stands in between.
"""

from typing import Final

from tests.integration.sandbox.attacks.attack import Attack, attempt

_THROUGH_DESCRIPTORS = """
def run(inputs):
    \"\"\"Climb out of every folder that was left open, by descriptor.\"\"\"
    found = []
    for descriptor in range(64):
        for path in ("../../../../../../../../../../etc/passwd", "../../../../../../../../../.." + inputs["secret"]):
            try:
                found.append(os.read(os.open(path, os.O_RDONLY, dir_fd=descriptor), 40))
            except OSError:
                pass
    return "ESCAPED with " + repr(found) if found else "contained"
"""

_SYMBOLIC_LINK = """
def run(inputs):
    def follow():
        os.symlink(inputs["secret"], "link")
        return open("link").read()
    return attempt(follow)
"""

_HARD_LINK = """
def run(inputs):
    def follow():
        os.link(inputs["secret"], "link")
        return open("link").read()
    return attempt(follow)
"""

_CHANGE_FOLDER = """
def run(inputs):
    def climb():
        os.chdir("/etc")
        return open("passwd").read()
    return attempt(climb)
"""

_FOLDER_DESCRIPTOR = """
def run(inputs):
    def climb():
        folder = os.open("/etc", os.O_PATH)
        return os.read(os.open("passwd", os.O_RDONLY, dir_fd=folder), 40)
    return attempt(climb)
"""

_OWN_LIBRARY_CODE = """
import json
def run(inputs):
    def spoil():
        with open(json.__file__.replace("/proc/self/fd/3", os.path.dirname(os.__file__)), "a") as module:
            module.write("spoiled = True")
        return "wrote"
    return attempt(spoil)
"""

_BY_LIBRARY_CALL = """
import ctypes
def run(inputs):
    def read():
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.open(inputs["secret"].encode(), 0)
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "refused")
        return os.read(descriptor, 40)
    return attempt(read)
"""

_MAPPED_LIBRARY = """
import ctypes
def run(inputs):
    \"\"\"Let the dynamic loader open the file.\"\"\"
    def load():
        try:
            ctypes.CDLL(inputs["secret"])
        except OSError as error:
            if "invalid ELF header" in str(error) or "file too short" in str(error):
                return "the loader read the file"
            raise
    return attempt(load)
"""

_MOVE_OUT = """
def run(inputs):
    def move():
        with open("mine", "w") as file:
            file.write("x")
        os.rename("mine", inputs["outside"] + "/moved")
        return "moved"
    return attempt(move)
"""

_RUN_OWN_PROGRAM = """
def run(inputs):
    def go():
        with open("program", "w") as file:
            file.write("#!/bin/sh\\necho out")
        os.chmod("program", 0o755)
        return os.execv("./program", ["program"])
    return attempt(go)
"""

FILES: Final = (
    attempt("read etc passwd", "open('/etc/passwd').read()", escapes_outside=True),
    attempt("read a file anybody may read", "open(inputs['secret']).read()", escapes_outside=True),
    attempt("read a file of this project", "open(inputs['source']).read()"),
    attempt("read through proc self root", "open('/proc/self/root' + inputs['secret']).read()", escapes_outside=True),
    attempt("read through the cwd link", "open('/proc/self/cwd/../../..' + inputs['secret']).read()"),
    attempt("read through the root of process 1", "open('/proc/1/root' + inputs['secret']).read()"),
    attempt("read by a relative path", "open('../' * 30 + inputs['secret'][1:]).read()", escapes_outside=True),
    attempt("list the root folder", "os.listdir('/')", escapes_outside=True),
    attempt("list the folder of all scratch folders", "os.listdir('..')"),
    attempt("read own environment", "open('/proc/self/environ', 'rb').read() or 'nothing'", escapes_outside=True),
    attempt("read the server environment", "open(f'/proc/{inputs[\"server\"]}/environ', 'rb').read()"),
    attempt("read the server command line", "open(f'/proc/{inputs[\"server\"]}/cmdline', 'rb').read()"),
    attempt("read the server memory", "open(f'/proc/{inputs[\"server\"]}/mem', 'rb').read(1)"),
    attempt("read the server memory map", "open(f'/proc/{inputs[\"server\"]}/maps').read()"),
    attempt("list the server descriptors", "os.listdir(f'/proc/{inputs[\"server\"]}/fd')"),
    attempt("read the zygote memory", "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
    attempt("list all processes", "os.listdir('/proc')", escapes_outside=True),
    attempt("read kernel settings", "open('/proc/sys/kernel/hostname').read()", escapes_outside=True),
    attempt("read mounts", "open('/proc/self/mounts').read()", escapes_outside=True),
    attempt("write outside", "open(inputs['outside'] + '/made', 'w').write('x')", escapes_outside=True),
    attempt("write in the folder of temporary files", "open('/tmp/headgate-attack', 'w').write('x')"),
    attempt("write own out of memory score", "open('/proc/self/oom_score_adj', 'w').write('-1000')"),
    attempt("make a folder outside", "os.mkdir(inputs['outside'] + '/folder')", escapes_outside=True),
    attempt("append to a file outside", "open(inputs['canary'], 'a').write('x')", escapes_outside=True),
    attempt("truncate a file outside by path", "os.truncate(inputs['canary'], 0)", escapes_outside=True),
    attempt("truncate while reading", "os.open(inputs['canary'], os.O_RDONLY | os.O_TRUNC)", escapes_outside=True),
    attempt("remove a file outside", "os.unlink(inputs['canary'])"),
    attempt("change modes outside", "os.chmod(inputs['canary'], 0)"),
    attempt("change the owner outside", "os.chown(inputs['canary'], os.getuid(), os.getgid())"),
    attempt("change times outside", "os.utime(inputs['canary'])", escapes_outside=True),
    attempt("change attributes outside", "os.setxattr(inputs['canary'], 'user.x', b'y')"),
    attempt("make a pipe file", "os.mkfifo('pipe')", escapes_outside=True),
    attempt("make a device", "os.mknod('device', 0o20600, os.makedev(1, 1))"),
    attempt("make an unnamed file", "os.open('.', os.O_TMPFILE | os.O_RDWR)"),
    attempt("make a file in memory", "os.memfd_create('hidden')", escapes_outside=True),
    attempt("change the root folder", "os.chroot('.')"),
    Attack("climb out by inherited descriptors", _THROUGH_DESCRIPTORS),
    Attack("follow a symbolic link", _SYMBOLIC_LINK, escapes_outside=True),
    Attack("follow a hard link", _HARD_LINK),
    Attack("change folder and read", _CHANGE_FOLDER, escapes_outside=True),
    Attack("open by folder descriptor", _FOLDER_DESCRIPTOR, escapes_outside=True),
    Attack("write into a library", _OWN_LIBRARY_CODE),
    Attack("read by the C library", _BY_LIBRARY_CALL, escapes_outside=True),
    Attack("read by the dynamic loader", _MAPPED_LIBRARY, escapes_outside=True),
    Attack("move a file out", _MOVE_OUT, escapes_outside=True),
    Attack("run a program of one's own", _RUN_OWN_PROGRAM),
)
