import { type StreamEvent, streamEvents } from "@/api/events";
import { isPassing, statusOf } from "./server";

const SILENCE_MS = 40_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

interface LiveOptions {
  flowId: string;
  signal: AbortSignal;
  onEvent: (event: StreamEvent) => void;
  /** The server does not let us listen (any longer): the status of its answer. */
  onEnd: (status: number) => void;
}

/** Hear everything that happens to a flow, over every cut of the network, until `signal`. */
export async function followFlow({ flowId, signal, onEvent, onEnd }: LiveOptions): Promise<void> {
  let lastEventId: string | undefined;
  let failures = 0;
  let last = false;
  while (!signal.aborted) {
    try {
      await hear(`/api/v1/flows/${flowId}/events`, lastEventId, signal, (event) => {
        failures = 0;
        last = event.event === "deleted";
        lastEventId = event.id ?? lastEventId;
        onEvent(event);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (statusOf(error) > 0 && !isPassing(error)) return onEnd(statusOf(error));
    }
    if (last) return;
    failures += 1;
    await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), signal);
  }
}

async function hear(
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void,
) {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onHeard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), SILENCE_MS);
  };
  // A network that went may leave the line looking alive: it is begun anew as soon as there is one again.
  const cut = () => silent.abort();
  window.addEventListener("offline", cut);
  onHeard();
  try {
    for await (const event of streamEvents(path, {
      lastEventId,
      onHeard,
      signal: AbortSignal.any([signal, silent.signal]),
    })) {
      onEvent(event);
    }
  } finally {
    clearTimeout(timer);
    window.removeEventListener("offline", cut);
  }
}

/** Wait so long, but no longer than until the network is back or nobody waits. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
