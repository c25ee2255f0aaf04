import { describe, expect, it } from "vitest";
import { planBefore } from "./history";

describe("the plan before", () => {
  it("is the one that is replaced, as the person had approved it", () => {
    const before = { plan: "# Edited", cases: [{ name: "Greets", text: "Hi", expect: { contains: ["hello"] } }] };
    const found = planBefore([], { id: "now", data: { plan: "# Second", before } });
    expect(found).toMatchObject({ plan: "# Edited", cases: [{ name: "Greets" }] });
  });

  it("is none where this is the first", () => {
    expect(planBefore([], { id: "now", data: { plan: "# First", before: null } })).toBeUndefined();
  });
});
