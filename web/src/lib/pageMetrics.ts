type PageEvent =
  | "flow_proposal_continue"
  | "flow_proposal_dismiss"
  | "flow_tail_update_buffered"
  | "plan_dismiss"
  | "plan_reset"
  | "skip_all_toggle"
  | "skip_all_auto_approve"
  | "input_history_recall";
type Counts = Partial<Record<PageEvent, number>>;

/** What happened since the last batch. */
export interface PageBatch {
  counts: Counts;
  apply_ms: number[];
  skip_all: boolean | null;
}

const WAIT_MS = 10_000;
const MOST_AT_ONCE = 1_000;
const MOST_TIMES = 50;

let counts: Counts = {};
let times: number[] = [];
let skips: boolean | null = null;
let timer: ReturnType<typeof setTimeout> | null = null;
let report: (batch: PageBatch) => void = () => undefined;

/** What happens in the page alone, gathered in batches of figures for the server; never a text, a flow or a conversation. */
export const pageMetrics = {
  /** Who takes the batches from now on. */
  to(reporter: (batch: PageBatch) => void): void {
    report = reporter;
  },
  /** Something happened once more. */
  count(event: PageEvent): void {
    counts[event] = Math.min((counts[event] ?? 0) + 1, MOST_AT_ONCE);
    later();
  },
  /** So many milliseconds from adding a proposal to its nodes being drawn. */
  applied(ms: number): void {
    if (times.length < MOST_TIMES) times.push(Math.round(ms * 10) / 10);
    later();
  },
  /** Whether every gate is hidden now. */
  skipAll(on: boolean): void {
    skips = on;
    later();
  },
  /** Send what was gathered. A batch that does not arrive is lost: figures are no reason to ask again. */
  send,
};

function later(): void {
  timer ??= setTimeout(send, WAIT_MS);
}

function send(): void {
  if (timer === null) return;
  clearTimeout(timer);
  const batch = { counts, apply_ms: times, skip_all: skips };
  counts = {};
  times = [];
  skips = null;
  timer = null;
  report(batch);
}

// What was gathered goes before the window does.
globalThis.document?.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && send());
