import type { AttemptOut, StepSummary } from "@/api/types";

/** A stretch of time on the timeline, in milliseconds from its beginning. */
export interface Bar {
  from: number;
  to: number;
  status: string;
}

export interface Row {
  id: string;
  label: string;
  /** From when nothing was in its way until it began. */
  wait: Bar | null;
  bars: Bar[];
  ms: number | null;
  status: StepSummary["status"];
}

export interface Timeline {
  rows: Row[];
  length: number;
  /** The moment at which it begins. */
  origin: number;
}

const at = (moment: string | null) => (moment === null ? null : Date.parse(moment));

interface Given {
  createdAt: string;
  steps: readonly StepSummary[];
  /** Step to the steps before it. */
  parents: Record<string, readonly string[]>;
  /** Attempts of steps that were tried more than once. */
  tries: Record<string, readonly AttemptOut[]>;
  now: number;
}

/** Where each step of a run stands in time. Results that were taken over or pinned took none of it. */
export function timelineOf({ createdAt, steps, parents, tries, now }: Given): Timeline {
  const done = steps.filter((step) => step.started_at !== null && !step.reused_from_run_id && !step.pinned);
  const moments = done.map((step) => at(step.started_at) as number);
  // A run that was resumed days later is not drawn from its first day on unless its steps are.
  const origin = Math.min(Date.parse(createdAt), ...moments);
  const ends = new Map(steps.map((step) => [step.step_id, at(step.finished_at)]));
  const own = new Set(done.map((step) => step.step_id));
  const rows = steps.map((step): Row => {
    const plain = { id: step.step_id, label: step.label, ms: step.ms, status: step.status };
    if (!own.has(step.step_id)) return { ...plain, ms: null, wait: null, bars: [] };
    const started = at(step.started_at) as number;
    const bars = barsOf(step, tries[step.step_id], origin, now);
    const first = bars[0]?.from ?? started - origin;
    const before = (parents[step.step_id] ?? []).filter((id) => own.has(id)).map((id) => ends.get(id) ?? 0);
    const ready = Math.max(Date.parse(createdAt), ...before) - origin;
    const wait = first - ready > 1 ? { from: ready, to: first, status: "pending" } : null;
    return { ...plain, wait, bars };
  });
  const length = Math.max(1, ...rows.flatMap((row) => row.bars.map((bar) => bar.to)));
  return { rows, length, origin };
}

/** Attempts whose bars look like a step in another state. */
const BAR_STATUSES: Record<string, string> = { started: "running", retried: "failed" };

function barsOf(step: StepSummary, tries: readonly AttemptOut[] | undefined, origin: number, now: number): Bar[] {
  if (tries && tries.length > 1) {
    return tries.flatMap((attempt, index) => {
      const from = Date.parse(attempt.started_at) - origin;
      const to = (at(attempt.finished_at) ?? now) - origin;
      if (attempt.status !== "suspended") return [{ from, to, status: BAR_STATUSES[attempt.status] ?? attempt.status }];
      const next = tries[index + 1];
      const end = next ? Date.parse(next.started_at) : (at(step.finished_at) ?? now);
      return [{ from, to: Math.max(end - origin, to), status: "waiting" }];
    });
  }
  const from = (at(step.started_at) as number) - origin;
  return [{ from, to: Math.max((at(step.finished_at) ?? now) - origin, from), status: step.status }];
}

const ROUND = [1, 2, 5];

/** Round moments along a timeline, about `wanted` of them. */
export function ticks(length: number, wanted = 6): number[] {
  const rough = Math.max(length / wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (ROUND.find((one) => one * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}

/** What each step was doing at a moment of the run. */
export function statusesAt(timeline: Timeline, moment: number): Record<string, StepSummary["status"]> {
  const found: Record<string, StepSummary["status"]> = {};
  for (const row of timeline.rows) {
    const bar = row.bars.findLast((one) => one.from <= moment);
    if (row.bars.length === 0) found[row.id] = row.status;
    else if (!bar) found[row.id] = "pending";
    else if (moment < bar.to) found[row.id] = "running";
    else found[row.id] = bar === row.bars.at(-1) ? row.status : "failed";
  }
  return found;
}
