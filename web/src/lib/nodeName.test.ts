import { describe, expect, it } from "vitest";
import { namesOf, nodeName, underName } from "./nodeName";

const templates = { ChatInput: { label: "Chat input" } };

describe("the name of a node", () => {
  it("is its own, and what it is stands under it", () => {
    const node = { id: "ask", type: "ChatInput", label: "Question" };
    expect([nodeName(node, templates), underName(node, templates)]).toEqual(["Question", "Chat input"]);
  });

  it("is what it is where nobody named it, also where the server gives the id for a name", () => {
    for (const label of ["", undefined, "ask"]) {
      const node = { id: "ask", type: "ChatInput", ...(label === undefined ? {} : { label }) };
      expect([nodeName(node, templates), underName(node, templates)]).toEqual(["Chat input", "ask"]);
    }
  });

  it("is its type where the component is not known", () => {
    expect(nodeName({ id: "ask", type: "Gone" }, {})).toBe("Gone");
  });

  it("is told from another of the same name in a list", () => {
    const step = (id: string, label = "") => ({ id, type: "ChatInput", label });
    expect(namesOf([step("one"), step("two"), step("three", "Third")], templates)).toEqual({
      one: "Chat input (one)",
      two: "Chat input (two)",
      three: "Third",
    });
  });
});
