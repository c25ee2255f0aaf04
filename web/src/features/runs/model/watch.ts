import { type StreamEvent, streamEvents } from "@/api/events";
import { ApiError } from "@/api/problem";

export type Connection = "live" | "reconnecting" | "closed";

interface Watching {
  onEvent: (event: StreamEvent) => void;
  onConnection: (state: Connection) => void;
  signal: AbortSignal;
}

const ENDINGS = new Set(["run_completed", "run_failed", "run_cancelled"]);
const PAUSES_MS = [300, 800, 1500, 3000, 5000];
/** A line that says nothing for so long may be dead: a machine that slept is told by nobody. */
const SILENCE_MS = 60_000;

/** Follow a run until it is over, over lost lines and slept tabs: each time from the last event that was seen. */
export async function watchRun(runId: string, { onEvent, onConnection, signal }: Watching): Promise<void> {
  let lastEventId: string | undefined;
  let failures = 0;
  const take = (event: StreamEvent) => {
    onConnection("live");
    failures = 0;
    lastEventId = event.id ?? lastEventId;
    onEvent(event);
  };
  while (!signal.aborted) {
    const end = await oneLine(runId, lastEventId, take, signal);
    if (end === "over") return onConnection("closed");
    if (signal.aborted) return;
    onConnection("reconnecting");
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] as number, signal);
    failures += 1;
  }
}

/** Listen until the run is over, or the line is lost. */
async function oneLine(
  runId: string,
  lastEventId: string | undefined,
  take: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<"over" | "lost"> {
  const line = new AbortController();
  const stop = wakes(line, signal);
  const tooQuiet = () => setTimeout(() => line.abort(), SILENCE_MS);
  let silence = tooQuiet();
  try {
    const options = { signal: line.signal, ...(lastEventId ? { lastEventId } : {}) };
    for await (const event of streamEvents(`/api/v1/flow-runs/${runId}/events`, options)) {
      clearTimeout(silence);
      silence = tooQuiet();
      take(event);
      if (ENDINGS.has(event.event)) return "over";
    }
    return "lost";
  } catch (error) {
    return error instanceof ApiError && !error.passing ? "over" : "lost";
  } finally {
    clearTimeout(silence);
    stop();
  }
}

/** Ends the line when the network comes back or the tab is looked at again, so that it is opened anew. */
function wakes(line: AbortController, signal: AbortSignal): () => void {
  const end = () => line.abort();
  let hiddenAt = 0;
  const seen = () => {
    if (document.visibilityState === "hidden") hiddenAt = Date.now();
    else if (hiddenAt && Date.now() - hiddenAt > 20_000) end();
  };
  signal.addEventListener("abort", end);
  window.addEventListener("online", end);
  window.addEventListener("offline", end);
  document.addEventListener("visibilitychange", seen);
  return () => {
    signal.removeEventListener("abort", end);
    window.removeEventListener("online", end);
    window.removeEventListener("offline", end);
    document.removeEventListener("visibilitychange", seen);
  };
}

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
