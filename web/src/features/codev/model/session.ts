import type { StreamEvent } from "@/api/events";
import type { CodevSession, Interrupt } from "@/api/queries/codev";
import { type Entry, withEntry } from "./history";
import { figure, record, sentences, type Told, words } from "./read";

/** A session as its answers and its events tell it: the same answers and events make the same session. */
export interface LiveSession {
  id: string;
  status: CodevSession["status"];
  phase: string;
  iteration: number;
  interrupt: Interrupt | null;
  stopReason: string;
  inputTokens: number;
  outputTokens: number;
  /** What happened, oldest first. */
  entries: Entry[];
  /** Number of the last event that `entries` knows. */
  seen: number;
  /** Number of the event that the members above are as of: events before it only tell how it came to that. */
  asOf: number;
  updatedAt: string;
  /** When what it does now began; empty where nobody said. */
  since: string;
  /** What the model is saying, until it does something. */
  speaking: string;
}

const MOST_SPOKEN = 6000;

export const isOver = (status: string): boolean => status !== "in_progress" && status !== "pending_interrupt";

/** A session before any event. */
export const begin = (session: CodevSession): LiveSession => ({
  ...truthOf(session),
  id: session.thread_id,
  entries: [],
  seen: 0,
  since: session.status === "in_progress" ? session.updated_at : "",
  speaking: "",
});

/** A session after an answer of the server; an answer that is older than what events said since is passed over. */
export function refresh(live: LiveSession, session: CodevSession): LiveSession {
  if (session.thread_id !== live.id) return begin(session);
  if (session.last_event < live.asOf || Date.parse(session.updated_at) < Date.parse(live.updatedAt)) return live;
  const works = session.status === "in_progress";
  return {
    ...live,
    ...truthOf(session),
    since: works && live.status !== "in_progress" ? session.updated_at : live.since,
    speaking: works ? live.speaking : "",
  };
}

const truthOf = (session: CodevSession) => ({
  status: session.status,
  phase: session.phase,
  iteration: session.iteration,
  interrupt: session.interrupt,
  stopReason: session.stop_reason,
  inputTokens: session.total_input_tokens,
  outputTokens: session.total_output_tokens,
  asOf: session.last_event,
  updatedAt: session.updated_at,
});

/** A session after one event. One that was seen is passed over, so that a line may be taken up anywhere. */
export function apply(live: LiveSession, event: StreamEvent): LiveSession {
  const told = record(event.data);
  if (event.event === "token") return spoken(live, told);
  const number = Number(event.id);
  if (!Number.isInteger(number) || number <= live.seen) return live;
  const since = (event.event === "phase" && words(told.at)) || live.since;
  const next = { ...live, entries: withEntry(live.entries, number, event.event, told), seen: number, since };
  return number > live.asOf ? { ...next, ...changed(live, event.event, told), asOf: number } : next;
}

export const replay = (live: LiveSession, events: readonly StreamEvent[]): LiveSession => events.reduce(apply, live);

function spoken(live: LiveSession, told: Told): LiveSession {
  if (live.status !== "in_progress") return live;
  return { ...live, speaking: (live.speaking + words(told.text)).slice(-MOST_SPOKEN) };
}

/** What an event that is news changes. */
function changed(live: LiveSession, kind: string, told: Told): Partial<LiveSession> {
  switch (kind) {
    case "phase":
      return {
        status: "in_progress",
        interrupt: null,
        phase: words(told.phase) || live.phase,
        iteration: figure(told.iteration) || live.iteration,
        speaking: "",
      };
    case "tool_call":
      return { speaking: "" };
    case "usage":
      return { inputTokens: figure(told.input_tokens), outputTokens: figure(told.output_tokens) };
    case "interrupt":
      return { status: "pending_interrupt", interrupt: readInterrupt(told), speaking: "" };
    case "done":
      return {
        status: words(told.status) === "completed" ? "completed" : "stopped",
        stopReason: words(told.stop_reason),
        interrupt: null,
        speaking: "",
      };
    case "error":
      return {
        status: "error",
        stopReason: sentences(words(told.message), words(told.remedy)),
        interrupt: null,
        speaking: "",
      };
    default:
      return {};
  }
}

const readInterrupt = (told: Told): Interrupt => ({
  id: words(told.id),
  type: words(told.type) as Interrupt["type"],
  prompt: words(told.prompt),
  data: record(told.data) as Interrupt["data"],
});
