import { expect, it } from "vitest";
import type { LiveRun } from "./live";
import { startingStep } from "./startingStep";

const run = (status: string, steps: Record<string, string>) =>
  ({
    status,
    steps: Object.fromEntries(Object.entries(steps).map(([id, state], order) => [id, { id, order, status: state }])),
  }) as unknown as LiveRun;

it.each([
  ["waiting", { ask: "completed", review: "waiting", show: "pending" }, "review"],
  ["running", { ask: "completed", read: "running" }, undefined],
  ["failed", { ask: "completed", read: "failed", show: "pending" }, "read"],
  ["completed", { ask: "completed", show: "completed", other: "skipped" }, "show"],
])("of a run that is %s is the step that says most", (status, steps, id) => {
  expect(startingStep(run(status, steps))).toBe(id);
});
