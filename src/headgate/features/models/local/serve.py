"""The model server's own process: `python -m headgate.features.models.local.serve`, started by `server`.

Reads one JSON line of settings from standard input, writes one JSON line, `{"url"}` or `{"error"}`, and lives until
standard input ends, which it does when Headgate is gone, however it went. It is a process of its own because loading
holds Python's lock for seconds and closing a server that is answering never returns (both measured with 2026.10).
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Serve one model until standard input ends."""
    settings = json.loads(sys.stdin.readline())
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # llama.cpp may print; the line must stay alone
    try:
        server = _start(settings)
        reply = {"url": server.listening_address}
        if not reply["url"].startswith("http://127.0.0.1:"):
            server, reply = None, {"error": f"it listens at {reply['url']}, which other machines can reach"}
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent must hear it
        server, reply = None, {"error": f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(reply) + "\n")
    answer.close()
    if server is not None:
        sys.stdin.read()
    os._exit(0)  # not `sys.exit`: a server that is answering does not close


def _start(settings: dict[str, object]) -> "xllamacpp.Server":  # type: ignore[name-defined] # noqa: F821
    import xllamacpp  # noqa: PLC0415 - the optional package, imported in its own process only

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {Path(str(settings["path"])).stem}
    params.port = 0  # the system selects one; the address is that of this machine unless configured
    params.api_keys = [settings["token"]]
    params.n_ctx = settings["context"]
    if settings["use"] != "chat":
        params.embedding = True
        if settings["use"] == "rerank":
            params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
        params.n_batch = params.n_ubatch = 2048  # a text is computed in one batch
    params.n_parallel = 1
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_ram_mib = 0  # its default keeps up to 8 GiB of old prompts
    params.sleep_idle_seconds = settings["sleep_after"]
    params.use_jinja = True
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1  # errors, on standard error
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
