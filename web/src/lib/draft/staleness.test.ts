import { describe, expect, it } from "vitest";
import type { FlowNode } from "@/api/types";
import { edgeId } from "./document";
import { staleNodes } from "./staleness";

const node = (id: string, text: string, more: Partial<FlowNode> = {}) =>
  ({ id, type: "Text", params: { text }, ...more }) as FlowNode;
const edge = (source: string, target: string) => ({ source, output: "text", target, input: "text" });
const draft = (nodes: FlowNode[], edges = [edge("a", "b")]) => ({
  nodes: Object.fromEntries(nodes.map((one) => [one.id, one])),
  edges: Object.fromEntries(edges.map((one) => [edgeId(one), one])),
});
const RAN = draft([node("a", "Hello world"), node("b", ""), node("c", "{{b.output}}"), node("d", "alone")]);

describe("results of a run", () => {
  it("are current while nothing that decides them changed", () => {
    expect(staleNodes(RAN, RAN).size).toBe(0);
    const renamed = draft([
      node("a", "Hello world", { label: "Greeting", position: { x: 9, y: 9 } } as Partial<FlowNode>),
      ...["b", "c", "d"].map((id) => RAN.nodes[id] as FlowNode),
    ]);
    expect(staleNodes(RAN, renamed).size).toBe(0);
  });

  it("are stale from the changed node on, over edges and references, and nowhere else", () => {
    const changed = { ...RAN, nodes: { ...RAN.nodes, a: node("a", "Goodbye moon") } };
    expect([...staleNodes(RAN, changed)].sort()).toEqual(["a", "b", "c"]);
  });

  it("are stale where an edge was removed", () => {
    expect([...staleNodes(RAN, { ...RAN, edges: {} })].sort()).toEqual(["b", "c"]);
  });
});
