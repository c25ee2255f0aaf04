import { describe, expect, it } from "vitest";
import type { RunOut, StepSummary } from "@/api/types";
import { applyEvent, fromRun, inOrder, isOver, waitsForApproval } from "./live";

const step = (id: string, order: number, more: Partial<StepSummary> = {}): StepSummary => ({
  step_id: id,
  order,
  type: "Echo",
  label: id,
  status: "pending",
  attempts: 0,
  ms: null,
  tokens_input: null,
  tokens_output: null,
  error: null,
  started_at: null,
  finished_at: null,
  reused_from_run_id: null,
  pinned: false,
  ...more,
});
const RUN = {
  id: "r",
  status: "running",
  steps: [step("b", 2), step("a", 1)],
  output: null,
  error: null,
  ms: null,
  started_at: null,
} as unknown as RunOut;
const event = (kind: string, data: object) => ({ id: "1", event: kind, data });

describe("a run that is followed", () => {
  it("counts the items of outputs that are lists, until the step is tried again", () => {
    let run = applyEvent(fromRun(RUN), event("step_completed", { step_id: "a", ms: 1, items: { rows: 12 } }));
    expect(run.steps.a?.items).toEqual({ rows: 12 });
    expect(fromRun(RUN, run).steps.a?.items).toEqual({ rows: 12 });
    run = applyEvent(run, event("step_started", { step_id: "a", attempt: 2 }));
    expect(run.steps.a?.items).toEqual({});
  });

  it("gathers what a model says and forgets it when the step is tried again", () => {
    let run = applyEvent(fromRun(RUN), event("step_started", { step_id: "a", attempt: 1 }));
    for (const text of ["Hel", "lo"]) run = applyEvent(run, event("token", { step_id: "a", text }));
    expect(run.steps.a).toMatchObject({ status: "running", preview: "Hello" });
    expect(run.speaking).toBe("a");
    run = applyEvent(run, event("step_started", { step_id: "a", attempt: 2 }));
    expect(run.steps.a?.preview).toBe("");
  });

  it("forgets what a failed model had written when another one begins anew", () => {
    let run = applyEvent(fromRun(RUN), event("step_started", { step_id: "a", attempt: 1 }));
    run = applyEvent(run, event("token", { step_id: "a", text: "Half" }));
    run = applyEvent(run, event("model_changed", { step_id: "a", restarted: false }));
    expect(run.steps.a?.preview).toBe("Half");
    run = applyEvent(run, event("model_changed", { step_id: "a", restarted: true }));
    expect(run.steps.a?.preview).toBe("");
  });

  it("knows that a step waits for a decision of users, from its row and from its events", () => {
    const waiting = { reason: "approval", until: null } as const;
    const row = { ...RUN, steps: [step("a", 1, { status: "waiting", waiting })] };
    expect(waitsForApproval(fromRun(row))).toBe(true);
    const decided = { ...RUN, steps: [step("a", 1, { status: "waiting", waiting: { ...waiting, answered: true } })] };
    expect(waitsForApproval(fromRun(decided))).toBe(false);
    expect(fromRun(decided).steps.a?.answered).toBe(true);
    let run = applyEvent(fromRun(RUN), event("step_waiting", { step_id: "a", reason: "time" }));
    expect(waitsForApproval(run)).toBe(false);
    run = applyEvent(run, event("step_waiting", { step_id: "a", reason: "approval" }));
    expect(waitsForApproval(run)).toBe(true);
    run = applyEvent(run, event("step_started", { step_id: "a", attempt: 2 }));
    expect(waitsForApproval(run)).toBe(false);
  });

  it("shows which attempt comes next, and that a run continued after a failure", () => {
    const waiting = { step_id: "a", reason: "retry", until: "2026-01-01T00:00:00Z", failures: 1, max_attempts: 4 };
    let run = applyEvent(fromRun(RUN), event("step_waiting", { ...waiting, message: "It is down." }));
    expect(run.steps.a).toMatchObject({ status: "waiting", retry: { attempt: 2, most: 4 }, error: "It is down." });
    run = applyEvent(run, event("step_started", { step_id: "a", attempt: 2 }));
    expect(run.steps.a).toMatchObject({ retry: null, error: "" });
    run = applyEvent(run, event("step_completed", { step_id: "a", error: { code: "x", message: "It is down." } }));
    expect(run.steps.a).toMatchObject({ status: "completed", error: "It is down." });
  });

  it("keeps when an attempt began that the rows know, however late its event comes", () => {
    const rows = {
      ...RUN,
      steps: RUN.steps.map((step) => ({ ...step, attempts: 1, started_at: "2026-01-01T00:00:00Z" })),
    };
    const began = Date.parse("2026-01-01T00:00:00Z");
    const again = applyEvent(fromRun(rows), event("step_started", { step_id: "a", attempt: 1 }), began + 60_000);
    expect(again.steps.a?.startedAt).toBe(began);
    const next = applyEvent(again, event("step_started", { step_id: "a", attempt: 2 }), began + 60_000);
    expect(next.steps.a?.startedAt).toBe(began + 60_000);
  });

  it("shows that a run is paused and continues", () => {
    let run = applyEvent(fromRun(RUN), event("run_paused", {}));
    expect(run.status).toBe("paused");
    expect(isOver(run.status)).toBe(false);
    expect(applyEvent(run, event("run_continued", { status: "queued" })).status).toBe("queued");
    run = applyEvent(run, event("run_continued", { status: "running" }));
    expect(run.status).toBe("running");
  });

  it("shows where text was missed until the step has ended", () => {
    let run = applyEvent(fromRun(RUN), event("step_started", { step_id: "a", attempt: 1 }));
    run = applyEvent(run, event("token", { step_id: "a", text: "Hel" }));
    run = applyEvent(run, event("gap", { step_id: "a", attempt: 1, next: 9 }));
    run = applyEvent(run, event("token", { step_id: "a", text: "ld" }));
    expect(run.steps.a?.preview).toBe("Hel [\u2026] ld");
    run = applyEvent(run, event("gap", { step_id: "a", attempt: 1, next: 1 }));
    run = applyEvent(run, event("token", { step_id: "a", text: "Hello" }));
    expect(run.steps.a?.preview).toBe("Hello");
    run = applyEvent(run, event("step_completed", { step_id: "a", ms: 5, preview: "Hello world" }));
    expect(run.steps.a?.preview).toBe("Hello world");
  });

  it("is the same when an event comes twice", () => {
    const done = event("step_completed", { step_id: "a", ms: 5, tokens_input: 1, tokens_output: 2, preview: "x" });
    const once = applyEvent(fromRun(RUN), done);
    expect(applyEvent(once, done)).toEqual(once);
    expect(once.steps.a).toMatchObject({ status: "completed", tokens: 3, ms: 5, preview: "x" });
    const started = event("step_started", { step_id: "a", attempt: 1 });
    const first = applyEvent(fromRun(RUN), started, 1);
    expect(applyEvent(first, started, 2)).toBe(first);
  });

  it("cancels what was open, keeps what was done, and knows no other steps", () => {
    const done = applyEvent(fromRun(RUN), event("step_completed", { step_id: "a", ms: 5, preview: "x" }));
    const ended = applyEvent(done, event("run_cancelled", {}));
    expect(inOrder(ended).map((one) => one.status)).toEqual(["completed", "cancelled"]);
    expect(applyEvent(done, event("step_completed", { step_id: "zz" }))).toBe(done);
  });
});
