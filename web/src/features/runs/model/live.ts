import type { StreamEvent } from "@/api/events";
import type { RunOut, StartedRunsOut, StepSummary } from "@/api/types";

/** A step while its run goes on. */
export interface LiveStep {
  id: string;
  order: number;
  label: string;
  type: string;
  status: StepSummary["status"];
  ms: number | null;
  tokens: number | null;
  attempt: number;
  /** The beginning of what it gave, or what its model has said so far. */
  preview: string;
  /** Number of items of each output that is a list. */
  items: Readonly<Record<string, number>>;
  error: string;
  startedAt: number | null;
  /** When a waiting step continues, as an ISO date. */
  until: string | null;
  /** The attempt that a waiting step will make, and how many it may make; null where it waits for something else. */
  retry: { attempt: number; most: number } | null;
  /** Whether it waits for a decision of users. */
  approval: boolean;
  /** Whether the run stopped before it, at a breakpoint. */
  stopped: boolean;
  /** Whether what it waits for has happened: it continues with its run. */
  answered: boolean;
  /** Whether it waits for runs that it started, or starts further ones between its waits. */
  below: boolean;
  /** How the runs that it started stand; null until that is asked for. */
  started: StartedRunsOut | null;
  pinned: boolean;
  reused: boolean;
}

/** A run as its rows and its events tell it. */
export interface LiveRun {
  id: string;
  status: RunOut["status"];
  steps: Record<string, LiveStep>;
  error: string;
  /** The step whose model speaks. */
  speaking: string | null;
  startedAt: number | null;
  ms: number | null;
}

const sum = (one: number | null | undefined, other: number | null | undefined) =>
  (one ?? null) === null && (other ?? null) === null ? null : (one ?? 0) + (other ?? 0);

const NO_ITEMS: LiveStep["items"] = {};

export const isOver = (status: string) => !["queued", "running", "waiting", "paused"].includes(status);

/** What the rows of a run say. What is only in events, a preview, is kept from before. */
export function fromRun(run: RunOut, before?: LiveRun): LiveRun {
  const steps = run.steps.map((step): [string, LiveStep] => [
    step.step_id,
    {
      id: step.step_id,
      order: step.order,
      label: step.label,
      type: step.type,
      status: step.status,
      ms: step.ms,
      tokens: sum(step.tokens_input, step.tokens_output),
      attempt: step.attempts,
      preview: before?.steps[step.step_id]?.preview || outputText(run, step.step_id),
      items: before?.steps[step.step_id]?.items ?? NO_ITEMS,
      error: step.error?.message ?? "",
      startedAt: step.started_at ? Date.parse(step.started_at) : null,
      ...waitOf(step),
      below:
        step.waiting?.reason === "run" || (step.status === "running" && before?.steps[step.step_id]?.below === true),
      started: before?.steps[step.step_id]?.started ?? null,
      pinned: step.pinned ?? false,
      reused: Boolean(step.reused_from_run_id),
    },
  ]);
  return {
    id: run.id,
    status: run.status,
    steps: Object.fromEntries(steps),
    error: run.error?.message ?? "",
    speaking: null,
    startedAt: run.started_at ? Date.parse(run.started_at) : null,
    ms: run.ms,
  };
}

function waitOf({ waiting, failures, max_attempts: most }: RunOut["steps"][number]) {
  const reason = waiting?.reason;
  return {
    until: waiting?.until ?? null,
    retry: reason === "retry" ? { attempt: (failures ?? 0) + 1, most: most ?? 1 } : null,
    approval: reason === "approval" && !waiting?.answered,
    stopped: reason === "breakpoint" && !waiting?.answered,
    answered: waiting?.answered ?? false,
  };
}

function outputText(run: RunOut, stepId: string): string {
  const outputs = run.output?.outputs as Record<string, { text?: string | null }> | undefined;
  return outputs?.[stepId]?.text?.slice(0, 400) ?? "";
}

/** Stands for text that was missed while the connection was away. */
const MISSING = " [\u2026] ";

type EventData = Record<string, unknown>;
const words = (value: unknown) => (typeof value === "string" ? value : "");
const figure = (value: unknown) => (typeof value === "number" ? value : null);

/** A run after one event. Events may come twice: each says what is so. */
export function applyEvent(run: LiveRun, event: StreamEvent, now = Date.now()): LiveRun {
  const data = (event.data ?? {}) as EventData;
  switch (event.event) {
    case "run_started":
      return isOver(run.status) && !data.resumed
        ? run
        : { ...run, status: "running", error: "", startedAt: run.startedAt ?? now };
    case "step_started":
      return withStep(run, data, (step) => {
        const attempt = figure(data.attempt) ?? step.attempt;
        if (step.status === "running" && step.attempt === attempt) return step;
        return {
          ...step,
          status: "running",
          attempt,
          preview: "",
          items: NO_ITEMS,
          error: "",
          // An event of an attempt that the rows know is an earlier one, sent again to a page that was opened later.
          startedAt: attempt === step.attempt ? (step.startedAt ?? now) : now,
          until: null,
          retry: null,
          approval: false,
          stopped: false,
          answered: false,
          ms: null,
        };
      });
    case "token":
      return {
        ...withStep(run, data, (step) => ({ ...step, preview: step.preview + words(data.text) })),
        speaking: words(data.step_id),
      };
    case "gap":
      // With 1 the step's text comes again from its beginning; otherwise some of it is missing until the step's end.
      return withStep(run, data, (step) => ({ ...step, preview: data.next === 1 ? "" : `${step.preview}${MISSING}` }));
    case "model_changed":
      // Another model begins anew: what the failed one had written is void.
      return data.restarted ? withStep(run, data, (step) => ({ ...step, preview: "" })) : run;
    case "step_completed":
      return withStep(run, data, (step) => ({
        ...step,
        status: "completed",
        ms: figure(data.ms),
        tokens: sum(figure(data.tokens_input), figure(data.tokens_output)),
        preview: words(data.preview) || step.preview,
        items: (data.items as LiveStep["items"] | undefined) ?? NO_ITEMS,
        error: words((data.error as EventData | undefined)?.message),
      }));
    case "step_failed":
      return withStep(run, data, (step) => ({
        ...step,
        status: "failed",
        ms: figure(data.ms),
        error: words(data.message),
      }));
    case "step_waiting":
      return withStep(run, data, (step) => ({
        ...step,
        status: "waiting",
        until: words(data.until) || null,
        retry:
          data.reason === "retry"
            ? { attempt: (figure(data.failures) ?? 0) + 1, most: figure(data.max_attempts) ?? 1 }
            : null,
        approval: data.reason === "approval",
        stopped: data.reason === "breakpoint",
        answered: false,
        below: data.reason === "run",
        error: words(data.message),
      }));
    case "run_waiting":
      return { ...run, status: "waiting", speaking: null };
    case "run_paused":
      return { ...run, status: "paused" };
    case "run_continued":
      return { ...run, status: data.status === "queued" ? "queued" : "running" };
    case "step_skipped":
      return withStep(run, data, (step) => ({ ...step, status: "skipped" }));
    case "run_completed":
      return { ...run, status: "completed", speaking: null, ms: figure(data.ms) ?? run.ms };
    case "run_failed":
      return { ...run, status: "failed", speaking: null, error: words(data.message) };
    case "run_cancelled":
      return { ...run, status: "cancelled", speaking: null, steps: cancelled(run.steps) };
    default:
      return run;
  }
}

function withStep(run: LiveRun, data: EventData, change: (step: LiveStep) => LiveStep): LiveRun {
  const id = words(data.step_id);
  const step = run.steps[id];
  if (!step) return run;
  const next = change(step);
  return next === step ? run : { ...run, steps: { ...run.steps, [id]: next } };
}

function cancelled(steps: LiveRun["steps"]): LiveRun["steps"] {
  const open = (step: LiveStep) => ["pending", "running", "waiting"].includes(step.status);
  return Object.fromEntries(
    Object.entries(steps).map(([id, step]) => [id, open(step) ? { ...step, status: "cancelled" } : step]),
  );
}

/** Steps in the order in which they stand. */
export function inOrder(run: LiveRun): LiveStep[] {
  return Object.values(run.steps).sort((one, other) => one.order - other.order);
}

const isSettled = (status: string) => !["pending", "running", "waiting"].includes(status);

/** Whether a step of the run waits for runs that it started. */
export const waitsForRuns = (run: LiveRun | null): boolean =>
  run !== null && !isOver(run.status) && Object.values(run.steps).some((step) => step.below && !isSettled(step.status));

/** A run with what is known of the runs that its steps started. */
export function withStarted(run: LiveRun, started: readonly StartedRunsOut[]): LiveRun {
  const of = new Map(started.map((counts) => [counts.step_id, counts]));
  const steps = Object.entries(run.steps).map(([id, step]): [string, LiveStep] => {
    const counts = of.get(id);
    return [id, counts ? { ...step, started: counts } : step];
  });
  return { ...run, steps: Object.fromEntries(steps) };
}

/** Whether a step of the run waits for a decision of users. */
export const waitsForApproval = (run: LiveRun): boolean =>
  !isOver(run.status) && Object.values(run.steps).some((step) => step.status === "waiting" && step.approval);

/** The steps before which the run is stopped at breakpoints, in their order. */
export const stoppedBefore = (run: LiveRun): LiveStep[] =>
  isOver(run.status) ? [] : inOrder(run).filter((step) => step.status === "waiting" && step.stopped);
