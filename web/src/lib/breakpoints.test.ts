import { describe, expect, it } from "vitest";
import { asBreakpoints, breakable, breakpointsOf, toggleBreakpoint } from "./breakpoints";

const node = (type: string) => ({ type });
const state = {
  document: {
    nodes: { start: node("ChatInput"), model: node("Model"), note: node("Note"), agent: node("Agent") },
    edges: { e: { source: "model", output: "model", target: "agent", input: "model" } },
  },
  templates: {
    ChatInput: { outputs: [{ name: "text", type: "Text" }] },
    Model: { outputs: [{ name: "model", type: "Model" }] },
    Agent: { outputs: [{ name: "text", type: "Text" }] },
    Note: { annotation: true },
  },
  breakpoints: ["model", "agent", "gone"] as readonly string[],
  setBreakpoints(ids: readonly string[]) {
    state.breakpoints = ids;
  },
};
const shown = state as unknown as Parameters<typeof toggleBreakpoint>[0];

describe("breakpoints", () => {
  it("are set before steps, not before notes or the models of steps", () => {
    const ids = ["start", "model", "note", "agent", "gone"];
    expect(ids.filter((id) => breakable(shown, id))).toEqual(["start", "agent"]);
    expect(breakpointsOf(shown)).toEqual(["agent"]);
  });

  it("are read from whatever the browser has stored", () => {
    expect(asBreakpoints(["a", 1, null, "b"])).toEqual(["a", "b"]);
    expect([{}, "a", 7, null].map(asBreakpoints)).toEqual([[], [], [], []]);
  });

  it("are set and removed", () => {
    toggleBreakpoint(shown, "start");
    expect(state.breakpoints).toEqual(["model", "agent", "gone", "start"]);
    toggleBreakpoint(shown, "agent");
    expect(state.breakpoints).toEqual(["model", "gone", "start"]);
  });
});
