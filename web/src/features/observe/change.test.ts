import { describe, expect, it } from "vitest";
import { changeOf, successRate } from "./change";

describe("a change", () => {
  it("is better or worse by what the figure is", () => {
    expect(changeOf(120, 100, "higher")).toEqual({ percent: 20, tone: "good" });
    expect(changeOf(120, 100, "lower")).toEqual({ percent: 20, tone: "bad" });
    expect(changeOf(80, 100, "lower")).toEqual({ percent: -20, tone: "good" });
    expect(changeOf(120, 100, "neutral")).toEqual({ percent: 20, tone: "same" });
    expect(changeOf(100, 100, "higher")).toEqual({ percent: 0, tone: "same" });
  });
  it("is none without a time before", () => {
    expect(changeOf(5, 0, "higher").percent).toBeNull();
    expect(changeOf(null, 3, "higher").percent).toBeNull();
  });
});

it("tells how many of those that are over worked", () => {
  expect(successRate({ completed: 3, failed: 1 })).toBe(0.75);
  expect(successRate({ completed: 0, failed: 0 })).toBeNull();
});
