import { type StreamEvent, streamEvents } from "./events";
import { ApiError } from "./problem";

export type Connection = "live" | "reconnecting" | "closed";

export interface Following {
  path: string;
  /** Whether nothing comes after an event. */
  isLast?: (event: StreamEvent) => boolean;
  /** Whether it is over, asked when the server has ended a line that no last event ended. */
  isOver?: () => Promise<boolean>;
  onEvent: (event: StreamEvent) => void;
  onConnection: (state: Connection) => void;
  /** The last event that is known already. */
  lastEventId?: string | undefined;
  signal: AbortSignal;
}

const PAUSES_MS = [300, 800, 1500, 3000, 5000];
/** A line that gives nothing for so long, no heartbeat either, may be dead: a machine that slept is told by nobody. */
const SILENCE_MS = 60_000;

/** Follow what happens until it is over, over lost lines and slept tabs: each time from the last event that was seen. */
export async function follow(wanted: Following): Promise<void> {
  const { signal, onConnection } = wanted;
  let { lastEventId } = wanted;
  let failures = 0;
  const take = (event: StreamEvent) => {
    failures = 0;
    lastEventId = event.id ?? lastEventId;
    wanted.onEvent(event);
  };
  while (!signal.aborted) {
    let end = await oneLine({ ...wanted, lastEventId }, take);
    if (end === "ended" && !signal.aborted && (await wanted.isOver?.())) end = "over";
    if (end === "over") return onConnection("closed");
    if (signal.aborted) return;
    if (end === "lost" || !wanted.isOver) onConnection("reconnecting");
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] as number, signal);
    failures += 1;
  }
}

/** Listen until it is over, the server ends the line, or the line is lost. */
async function oneLine(
  { path, isLast, lastEventId, onConnection, signal }: Following,
  take: (event: StreamEvent) => void,
): Promise<"over" | "ended" | "lost"> {
  const line = new AbortController();
  const stop = wakes(line, signal);
  const tooQuiet = () => setTimeout(() => line.abort(), SILENCE_MS);
  let silence = tooQuiet();
  const onHeard = () => {
    clearTimeout(silence);
    silence = tooQuiet();
    onConnection("live");
  };
  try {
    for await (const event of streamEvents(path, { signal: line.signal, lastEventId, onHeard })) {
      take(event);
      if (isLast?.(event)) return "over";
    }
    return "ended";
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

/** Events of a moment together: a token a millisecond must not draw the page a thousand times a second. */
export function gathered(take: (events: StreamEvent[]) => void) {
  let waiting: StreamEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const some = waiting;
    waiting = [];
    take(some);
  };
  const add = (event: StreamEvent) => {
    waiting.push(event);
    timer ??= setTimeout(flush, 40);
  };
  return { add, flush, end: () => clearTimeout(timer) };
}
