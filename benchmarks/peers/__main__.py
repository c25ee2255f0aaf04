"""The process of a peer: reads how much to do, a line at a time, and writes what it took."""

import asyncio
import json
import sys
from importlib import import_module

from benchmarks.peers.port import Peer, keep_going

PEERS = {
    "headgate-workers": "benchmarks.peers.workers",
    "celery-chain": "benchmarks.peers.chain",
    "langgraph": "benchmarks.peers.graph",
    "dbos": "benchmarks.peers.workflow",
}


async def main(name: str, postgres: str, redis: str) -> None:
    """Serve one peer until standard input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a peer logs is no answer
    peer: Peer = import_module(PEERS[name]).make(postgres, redis)
    try:
        await peer.open()
        print("ready", file=answers, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            took, seconds = await keep_going(peer.run, order["at_once"], order["seconds"])
            print(json.dumps({"milliseconds": took, "seconds": seconds}), file=answers, flush=True)
    finally:
        await peer.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
