import { describe, expect, it } from "vitest";
import { fixOf, inNames, shownIssue } from "./fixes";

describe("an issue of the readiness check", () => {
  it("leads to the place where what is missing is set up", () => {
    expect(fixOf({ code: "variable_not_found", about: "KEY" })?.section).toBe("variables");
    expect(fixOf({ code: "model_not_usable", about: "openai/gpt-5" })?.section).toBe("models");
    expect(fixOf({ code: "mcp_server", about: "weather" })?.section).toBe("mcp");
    expect(fixOf({ code: "missing_value", about: "" })).toBeNull();
  });

  it("names its node as the canvas does, and begins as a sentence", () => {
    const message = "node 'save_file' (SaveFile) requires 'content', which is empty.";
    expect(inNames(message, "save_file", "Save file")).toBe("“Save file” requires 'content', which is empty.");
    expect(inNames("the flow has no steps.", "", "")).toBe("The flow has no steps.");
    expect(inNames("Edge (a) of node 'b' is wrong.", "b", "Show")).toBe("Edge (a) of “Show” is wrong.");
  });

  it("is shown with its node, and prevents a run unless it is a warning", () => {
    const shown = shownIssue({ code: "hidden_value", message: "m", severity: "warning", node: "a" });
    expect(shown).toMatchObject({ nodeId: "a", severity: "warning", remedy: "", about: "" });
    expect(shownIssue({ code: "address", message: "m" }).severity).toBe("error");
  });
});
