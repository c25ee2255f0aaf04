"""Starting, stopping and looking into processes, and taking powers back. `victim` is a process of the server's user."""

from typing import Final

from tests.integration.sandbox.attacks.attack import Attack, attempt, system_call

_FORK_BOMB = """
def run(inputs):
    for _ in range(1000):
        try:
            if os.fork() == 0:
                while True:
                    os.fork()
        except OSError as error:
            return f"contained by {error}"
    return "ESCAPED"
"""

_NEW_THREAD_GROUP = """
import ctypes
def run(inputs):
    \"\"\"clone with a process's flags, by the library and by number.\"\"\"
    SIGCHLD = 17
    return attempt(lambda: system_call(inputs["numbers"]["clone"], SIGCHLD, 0, 0, 0, 0))
"""

_PICKLE = """
import pickle
def run(inputs):
    class Payload:
        def __reduce__(self):
            return os.posix_spawn, ("/bin/sh", ["sh", "-c", "true"], {})
    return attempt(lambda: pickle.loads(pickle.dumps(Payload())))
"""

_EXEC = "os.execv(sys.executable or '/usr/bin/env', ['python'])"

PROCESSES: Final = (
    Attack("fork bomb", _FORK_BOMB),
    attempt("fork", "os.fork() and 'forked'"),
    attempt("execute a program", _EXEC, imports="os, sys"),
    attempt("execute by descriptor", "os.execve(os.open('/dev/null', 0), ['x'], {})"),
    attempt("spawn", "os.posix_spawn('/bin/true', ['true'], {})", escapes_outside=True),
    attempt("shell", "1 / (os.system('true') == 0)", escapes_outside=True),
    attempt("subprocess", "subprocess.run(['/bin/true'], check=True)", imports="subprocess", escapes_outside=True),
    attempt("multiprocessing", "multiprocessing.Process(target=print).start()", imports="multiprocessing"),
    Attack("spawn out of a pickle", _PICKLE, escapes_outside=True),
    Attack("clone by number", _NEW_THREAD_GROUP),
    system_call("vfork by number", "vfork"),
    system_call("clone3 by number", "clone3", "ctypes.create_string_buffer(88)", "88"),
    system_call("execve by number", "execve", "b'/bin/true'", "None", "None"),
    attempt("signal the server", "os.kill(inputs['server'], 0) or 'could'"),
    attempt("signal the zygote", "os.kill(os.getppid(), 0) or 'could'", escapes_outside=True),
    attempt("end another process", "os.kill(inputs['victim'], 9) or 'did'"),
    attempt("signal everybody", "os.kill(-1, 0) or 'could'", escapes_outside=True),
    attempt("signal the group", "os.killpg(0, 0) or 'could'", escapes_outside=True),
    attempt("signal a thread", "system_call(inputs['numbers']['tgkill'], inputs['victim'], inputs['victim'], 0)"),
    attempt("signal by descriptor", "os.pidfd_open(os.getppid())", escapes_outside=True),
    attempt("queue a signal", "system_call(inputs['numbers']['rt_sigqueueinfo'], inputs['victim'], 0, None)"),
    system_call("trace the server", "ptrace", "16", "inputs['server']", "0", "0"),
    system_call("trace the zygote", "ptrace", "16", "os.getppid()", "0", "0"),
    system_call("read the memory of the server", "process_vm_readv", "inputs['server']", "None", "0", "None", "0", "0"),
    system_call("take a descriptor of the server", "pidfd_getfd", "0", "0", "0"),
    attempt("become root", "os.setresuid(0, 0, 0) or os.setuid(0) or open('/etc/shadow').read()"),
    attempt("join a group", "os.setgroups([0])"),
    attempt("raise a limit", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", imports="resource"),
    attempt(
        "lower a limit", "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))", imports="resource", escapes_outside=True
    ),
    attempt(
        "limit the server", "resource.prlimit(inputs['server'], resource.RLIMIT_NOFILE, (1, 1))", imports="resource"
    ),
    attempt("hurry", "os.nice(-10)"),
    attempt("move to another core", "os.sched_setaffinity(0, {0}) or 'moved'", escapes_outside=True),
    attempt("slow the server down", "os.setpriority(os.PRIO_PROCESS, inputs['server'], 19) or 'did'"),
    system_call("allow dumps", "prctl", "4", "1", "0", "0", "0"),
    system_call("outlive the zygote", "prctl", "1", "0", "0", "0", "0"),
    system_call("another filter", "seccomp", "1", "0", "ctypes.create_string_buffer(16)"),
    system_call("user namespace", "unshare", "0x10000000"),
    system_call("enter a namespace", "setns", "0", "0"),
    system_call("mount", "mount", "b'none'", "b'/tmp'", "b'tmpfs'", "0", "None"),
    system_call("io_uring", "io_uring_setup", "8", "ctypes.create_string_buffer(120)"),
    system_call("load a kernel program", "bpf", "5", "ctypes.create_string_buffer(128)", "128"),
    system_call("page faults by descriptor", "userfaultfd", "0"),
    system_call("performance counters", "perf_event_open", "ctypes.create_string_buffer(128)", "0", "-1", "-1", "0"),
    system_call("keys of the session", "keyctl", "0", "-3", "0"),
    system_call("open by handle", "open_by_handle_at", "-100", "ctypes.create_string_buffer(136)", "0"),
    system_call("load a module", "init_module", "ctypes.create_string_buffer(8)", "0", "b''"),
)
