import { describe, expect, it } from "vitest";
import type { GraphEdge, GraphNode, GraphOut } from "@/api/queries/overview";
import { drawnEdges, drawnNodes, listed } from "./drawn";

const node = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  type: "AIStep",
  label: id,
  position: { x: 1, y: 2 },
  kind: "step",
  order: 1,
  badges: [],
  ...more,
});
const edge = (kind: GraphEdge["kind"], more: Partial<GraphEdge> = {}): GraphEdge => ({
  id: kind,
  source: "a",
  output: "text",
  target: "b",
  input: "input",
  kind,
  ...more,
});
const graph = (nodes: GraphNode[], edges: GraphEdge[] = []): GraphOut => ({
  flow_id: "f",
  version: null,
  run_id: null,
  nodes,
  edges,
});

describe("the overview's picture", () => {
  it("draws edges by what they carry, and faint where nothing went over them", () => {
    const found = drawnEdges(
      graph(
        [],
        [
          edge("data"),
          edge("model"),
          edge("all_previous_steps", { line: "dashed" }),
          edge("data", { id: "x", taken: false }),
        ],
      ),
    );
    expect(found.map((one) => one.style?.strokeDasharray)).toEqual(["none", "2 5", "8 6", "none"]);
    expect(found.map((one) => one.style?.opacity)).toEqual([1, 1, 1, 0.3]);
    expect(found.every((one) => one.selectable === false && one.focusable === false)).toBe(true);
  });

  it("puts groups behind, of their own size, and takes hostile params for text", () => {
    const [frame, note] = drawnNodes(
      graph([node("g", { type: "Group", kind: "note" }), node("n", { type: "Note", kind: "note" })]),
      {},
      { g: { title: "Mine", width: 300, height: "large" }, n: { text: { no: "text" } } },
    );
    expect(frame).toMatchObject({ type: "frame", width: 300, height: 360, zIndex: -1, data: { words: "Mine" } });
    expect(note).toMatchObject({ type: "note", data: { words: "" } });
  });
});

describe("the list beside it", () => {
  it("has steps in their order and what configures them last", () => {
    const found = listed(
      graph([
        node("llm", { kind: "configuration", order: null }),
        node("b", { order: 2 }),
        node("note", { kind: "note" }),
        node("a"),
      ]),
    );
    expect(found.map((one) => one.id)).toEqual(["a", "b", "llm"]);
  });
});
