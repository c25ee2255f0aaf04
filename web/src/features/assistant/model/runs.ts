import type { JsonValue } from "@/api/types";
import type { RunShown, RunStep } from "./message";
import type { Completed, TurnEvent } from "./wire";

const STATES: Record<string, string> = {
  run_started: "running",
  run_completed: "completed",
  run_failed: "failed",
  run_cancelled: "cancelled",
};
const STEPS: Record<string, string> = {
  step_started: "running",
  step_completed: "completed",
  step_failed: "failed",
  step_skipped: "skipped",
  step_waiting: "waiting",
};

/** The runs of a turn with an event of one of them. */
export function withRun(runs: RunShown[], event: Extract<TurnEvent, { event: "run_update" }>): RunShown[] {
  const { run_id, kind, data } = event;
  const known = runs.find((one) => one.runId === run_id) ?? emptyRun(run_id);
  const run: RunShown = {
    ...known,
    status: STATES[kind] ?? known.status,
    ms: numberOf(data.ms) !== null && kind in STATES ? numberOf(data.ms) : known.ms,
    text: kind === "run_completed" ? resultOf(data) : known.text,
    error: kind === "run_failed" ? textOf(data.error ?? data.message) : known.error,
    steps: STEPS[kind] ? withStep(known.steps, STEPS[kind], data) : known.steps,
  };
  return runs.includes(known) ? runs.map((one) => (one === known ? run : one)) : [...runs, run];
}

function withStep(steps: RunStep[], status: string, data: Record<string, JsonValue>): RunStep[] {
  const id = textOf(data.step_id);
  const step: RunStep = {
    id,
    label: textOf(data.label) || id,
    status,
    ms: numberOf(data.ms),
    preview: textOf(data.preview),
    error: textOf(data.error ?? data.message),
  };
  return steps.some((one) => one.id === id) ? steps.map((one) => (one.id === id ? step : one)) : [...steps, step];
}

const emptyRun = (runId: string): RunShown => ({ runId, status: "running", steps: [], ms: null, text: "", error: "" });
const numberOf = (value: JsonValue | undefined) => (typeof value === "number" ? value : null);
/** The text of a result; of one that the event has only the beginning of, with a mark. */
const resultOf = (data: Record<string, JsonValue>) => `${textOf(data.text)}${data.truncated === true ? "…" : ""}`;
const textOf = (value: JsonValue | undefined) => (typeof value === "string" ? value : "");

/** The runs as the turn's end tells of them; one whose events did not come is there too. */
export function withOutcomes(runs: RunShown[], outcomes: NonNullable<Completed["runs"]>): RunShown[] {
  const shown = runs.map((run) => {
    const outcome = outcomes.find((one) => one.run_id === run.runId);
    if (!outcome) return run;
    return { ...run, status: outcome.status, error: outcome.error || run.error };
  });
  const unseen = outcomes.filter((one) => !runs.some((run) => run.runId === one.run_id));
  return [
    ...shown,
    ...unseen.map((one) => ({
      ...emptyRun(one.run_id),
      status: one.status,
      error: one.error ?? "",
      ms: one.duration_seconds === undefined ? null : one.duration_seconds * 1000,
    })),
  ];
}
