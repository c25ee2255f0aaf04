import { describe, expect, it } from "vitest";
import type { StepSummary } from "@/api/types";
import { pairs } from "./compare";

const step = (id: string, order: number, ms: number | null = null) =>
  ({ step_id: id, label: id, order, ms }) as StepSummary;

describe("two runs side by side", () => {
  it("pair steps by id and keep what only one has in its place", () => {
    const found = pairs([step("a", 1, 10), step("c", 3)], [step("a", 1, 4), step("b", 2), step("c", 3)]);
    expect(found.map((one) => [one.id, Boolean(one.mine), Boolean(one.theirs), one.slower])).toEqual([
      ["a", true, true, 6],
      ["b", false, true, null],
      ["c", true, true, null],
    ]);
  });
});
