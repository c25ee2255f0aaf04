import { describe, expect, it } from "vitest";
import type { AttemptOut, StepSummary } from "@/api/types";
import { statusesAt, ticks, timelineOf } from "./timeline";

const time = (ms: number) => new Date(1_000_000 + ms).toISOString();
const step = (id: string, from: number | null, to: number | null, more: Partial<StepSummary> = {}) =>
  ({
    step_id: id,
    label: id,
    status: "completed",
    ms: 1,
    started_at: from === null ? null : time(from),
    finished_at: to === null ? null : time(to),
    reused_from_run_id: null,
    pinned: false,
    ...more,
  }) as StepSummary;
const given = { createdAt: time(0), parents: { b: ["a"] }, tries: {}, now: 1_000_900 };

describe("a timeline", () => {
  it("stands steps side by side in time, with what they waited", () => {
    const found = timelineOf({
      ...given,
      steps: [step("a", 10, 110), step("b", 150, 400), step("c", null, null, { status: "skipped" })],
    });
    expect(found.length).toBe(400);
    expect(found.rows[0]?.bars).toEqual([{ from: 10, to: 110, status: "completed" }]);
    expect(found.rows[1]?.wait).toEqual({ from: 110, to: 150, status: "pending" });
    expect(found.rows[2]?.bars).toEqual([]);
  });

  it("shows each attempt, and a running step until now", () => {
    const attempt = (no: number, from: number, to: number | null, status: string) =>
      ({ attempt_no: no, started_at: time(from), finished_at: to === null ? null : time(to), status }) as AttemptOut;
    const tries = { a: [attempt(1, 0, 100, "retried"), attempt(2, 200, null, "started")] };
    const found = timelineOf({ ...given, tries, steps: [step("a", 200, null, { status: "running" })] });
    expect(found.rows[0]?.bars).toEqual([
      { from: 0, to: 100, status: "failed" },
      { from: 200, to: 900, status: "running" },
    ]);
  });

  it("shows what a step waited between its attempts", () => {
    const attempt = (no: number, from: number, to: number | null, status: string) =>
      ({ attempt_no: no, started_at: time(from), finished_at: to === null ? null : time(to), status }) as AttemptOut;
    const tries = { a: [attempt(1, 0, 5, "suspended"), attempt(2, 800, 810, "completed")] };
    const { rows } = timelineOf({ ...given, tries, steps: [step("a", 800, 810)] });
    expect(rows[0]?.bars).toEqual([
      { from: 0, to: 800, status: "waiting" },
      { from: 800, to: 810, status: "completed" },
    ]);
  });

  it("leaves out the time of results that were taken over", () => {
    const found = timelineOf({
      ...given,
      steps: [step("a", -86_400_000, -86_300_000, { reused_from_run_id: "r" }), step("b", 5, 10)],
    });
    expect(found.origin).toBe(1_000_000);
    expect(found.rows[0]?.bars).toEqual([]);
  });

  it("knows what was going on at a moment", () => {
    const found = timelineOf({ ...given, steps: [step("a", 0, 100), step("b", 100, 200)] });
    expect(statusesAt(found, 50)).toEqual({ a: "running", b: "pending" });
    expect(statusesAt(found, 200)).toEqual({ a: "completed", b: "completed" });
  });

  it("has round ticks", () => {
    expect(ticks(1000, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(ticks(3)).toEqual([0, 1, 2, 3]);
  });
});
