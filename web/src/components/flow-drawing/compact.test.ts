import { describe, expect, it } from "vitest";
import type { Flow } from "@/api/types";
import { drawing } from "./geometry";

const chain = (length: number): Flow =>
  ({
    name: "Chain",
    nodes: Array.from({ length }, (_, at) => ({ id: `n${at}`, type: "Step", position: { x: at * 380, y: 0 } })),
    edges: Array.from({ length: length - 1 }, (_, at) => ({
      source: `n${at}`,
      output: "out",
      target: `n${at + 1}`,
      input: "in",
    })),
  }) as unknown as Flow;

describe("a small picture", () => {
  it("puts a long row of steps in lines, and no step on another", () => {
    const [long, small] = [drawing(chain(9)), drawing(chain(9), {}, true)];
    expect(long.width / long.height).toBeGreaterThan(10);
    expect(small.width / small.height).toBeLessThan(4);
    expect(new Set(small.nodes.map((node) => `${node.x},${node.y}`)).size).toBe(9);
    expect(small.edges).toHaveLength(8);
  });

  it("leaves notes out, and keeps a flow of notes alone", () => {
    const note = { id: "note", type: "Note", position: { x: 0, y: 400 } };
    const flow = chain(2);
    expect(drawing({ ...flow, nodes: [...(flow.nodes ?? []), note] } as Flow, {}, true).nodes).toHaveLength(2);
    expect(drawing({ name: "Notes", nodes: [note], edges: [] } as unknown as Flow, {}, true).nodes).toHaveLength(1);
  });

  it("keeps the places of flows with models or tools below their steps", () => {
    const flow = chain(3);
    const tool = { id: "t", type: "Tool", position: { x: 380, y: 300 } };
    const edge = { source: "t", output: "tool", target: "n1", input: "tools" };
    const drawn = drawing(
      { ...flow, nodes: [...(flow.nodes ?? []), tool], edges: [...(flow.edges ?? []), edge] } as Flow,
      {},
      true,
    );
    expect(drawn.width).toBeGreaterThan(700);
  });
});
