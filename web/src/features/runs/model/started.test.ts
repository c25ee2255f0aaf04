import { expect, it } from "vitest";
import type { RunOut } from "@/api/types";
import { applyEvent, fromRun, waitsForRuns } from "./live";

const run = {
  id: "run-1",
  status: "running",
  steps: [{ step_id: "each", order: 1, label: "Each", type: "ForEach", status: "pending", attempts: 0 }],
} as unknown as RunOut;
const event = (name: string, more: object = {}) => ({ event: name, data: { step_id: "each", ...more } });

it("counts runs of a step from its first wait to its end, also while it starts further ones", () => {
  let live = fromRun(run);
  const seen = [
    event("step_started", { attempt: 1 }),
    event("step_waiting", { reason: "run" }),
    event("step_started", { attempt: 2 }),
    event("step_completed"),
  ].map((one) => {
    live = applyEvent(live, one as Parameters<typeof applyEvent>[1]);
    return waitsForRuns(live);
  });
  expect(seen).toEqual([false, true, true, false]);
});
