import { describe, expect, it } from "vitest";
import { spelledOut, textOf } from "./saidOf";

describe("an action of the audit log", () => {
  it("has a text of its own", () => {
    expect(textOf("flow.draft_saved")).toBe("did_flow_draft_saved");
  });
  it("is spelled out where the page does not know it", () => {
    expect(textOf("space.moved_on")).toBeNull();
    expect(textOf("toString")).toBeNull();
    expect(spelledOut("space.moved_on")).toBe("Space moved on");
  });
});
