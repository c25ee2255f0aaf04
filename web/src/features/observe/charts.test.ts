import { expect, it } from "vitest";
import { axisOf, chartsOf } from "./charts";

const NAMES = { from: "From", runs: "Runs", failed: "Failed", cost: "Cost", half: "Median", most: "95th percentile" };
const charts = chartsOf({ parts: [] } as never, NAMES);

it("marks counts at whole numbers only, none twice", () => {
  const { incrs } = axisOf(charts.runs);
  expect(incrs?.every((step) => Number.isInteger(step) && step >= 1)).toBe(true);
  expect(axisOf(charts.cost).incrs).toBeUndefined();
});

it("has zero at the foot of the durations", () => {
  expect(axisOf(charts.latency).values(null, [0, 2000])).toEqual(["0", "2 s"]);
});
