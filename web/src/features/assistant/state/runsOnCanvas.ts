import type { DraftStore, NodeRun, StepStatus } from "@/lib/draft";
import type { TurnEvent } from "../model/wire";

const RUNS: Record<string, string> = {
  run_started: "running",
  run_completed: "completed",
  run_failed: "failed",
  run_cancelled: "cancelled",
};
const STEPS: Record<string, StepStatus> = {
  step_started: "running",
  step_completed: "completed",
  step_failed: "failed",
  step_skipped: "skipped",
  step_waiting: "waiting",
};

/** A run that a turn started, on the nodes of the canvas, as it happens. */
export function shownOnCanvas(draft: DraftStore, event: Extract<TurnEvent, { event: "run_update" }>): void {
  const { run_id, kind, data } = event;
  const { showRun, setNodeRun, shownRun } = draft.getState();
  if (RUNS[kind]) showRun({ id: run_id, status: RUNS[kind] }, shownRun?.id === run_id ? undefined : {});
  const status = STEPS[kind];
  if (!status || typeof data.step_id !== "string") return;
  const run: Partial<NodeRun> = { status };
  if (typeof data.ms === "number") run.ms = data.ms;
  if (typeof data.preview === "string") run.preview = data.preview;
  if (typeof data.message === "string") run.error = data.message;
  if (typeof data.tokens_input === "number") run.tokens = data.tokens_input + Number(data.tokens_output ?? 0);
  setNodeRun(data.step_id, run);
}
