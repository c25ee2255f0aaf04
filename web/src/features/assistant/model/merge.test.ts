import { describe, expect, it } from "vitest";
import { toDocument } from "@/lib/draft";
import { flowOf } from "../scripted";
import { mergeInto, withTail } from "./merge";

describe("a flow beside another one", () => {
  it("is the whole flow on an empty canvas", () => {
    const flow = flowOf("Echo", "ask: ChatInput", "answer: ChatOutput");
    const canvas = toDocument(flowOf("Empty"));
    expect(mergeInto(canvas, toDocument(flow))).toEqual(["ask", "answer"]);
    expect(canvas).toEqual(toDocument(flow));
  });

  it("gets free names, and everything that names its steps follows", () => {
    const flow = flowOf("Letter", "ask: ChatInput", "letter: PromptTemplate");
    const letter = flow.nodes?.[1];
    if (letter) letter.params = { template: "Dear {{ask.text}}, {{other.text}} {{flow_input.text}}" };
    const canvas = toDocument(flowOf("Echo", "ask: ChatInput", "ask_2: ChatOutput"));
    expect(mergeInto(canvas, toDocument(flow))).toEqual(["ask_3", "letter"]);
    expect(canvas.nodes.letter?.params).toEqual({
      template: "Dear {{ask_3.text}}, {{other.text}} {{flow_input.text}}",
    });
    expect(Object.keys(canvas.edges)).toContain("ask_3.text>letter.input");
    expect(canvas.name).toBe("Echo");
  });

  it("has what came after it, in order", () => {
    const flow = flowOf("Echo", "ask: ChatInput", "answer: ChatOutput");
    const made = withTail(flow, [
      { action: "rename_component", component_id: "ask", new_id: "heard" },
      { action: "remove_component", component_id: "answer" },
    ]);
    expect(made.order).toEqual(["heard"]);
    expect(made.edges).toEqual({});
    expect(flow.nodes).toHaveLength(2);
  });
});
