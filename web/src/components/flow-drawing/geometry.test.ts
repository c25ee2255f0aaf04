import { describe, expect, it } from "vitest";
import type { Flow, FlowNode, Template } from "@/api/types";
import { BOX_HEIGHT, BOX_WIDTH, cut, drawing, neighbour } from "./geometry";

const node = (id: string, x = 0, y = 0, more: Partial<FlowNode> = {}): FlowNode => ({
  id,
  type: "AIStep",
  position: { x, y },
  ...more,
});
const edge = (source: string, target: string, output = "text", input = "input") => ({ source, output, target, input });
const model: Template = {
  type: "LanguageModel",
  label: "Language model",
  description: "",
  category: "models",
  outputs: [{ name: "model", type: "Model" }],
};

describe("the picture of a flow", () => {
  it("has every node inside, where it stands to the others", () => {
    const found = drawing({ nodes: [node("a", -500, 40), node("b", 0, 0), node("c", 380, 700)] });
    for (const box of found.nodes) {
      expect(box.x).toBeGreaterThan(0);
      expect(box.y).toBeGreaterThan(0);
      expect(box.x + BOX_WIDTH).toBeLessThan(found.width);
      expect(box.y + BOX_HEIGHT).toBeLessThan(found.height);
    }
    expect(found.nodes.map((box) => box.id).sort((a, b) => at(found, a) - at(found, b))).toEqual(["a", "b", "c"]);
  });

  it("puts nodes that nobody placed in columns, circles too", () => {
    const nodes = ["a", "b", "c", "d"].map((id) => node(id));
    const found = drawing({ nodes, edges: [edge("a", "b"), edge("b", "c"), edge("a", "d")] });
    expect(at(found, "a")).toBeLessThan(at(found, "b"));
    expect(at(found, "b")).toBeLessThan(at(found, "c"));
    expect(at(found, "d")).toBe(at(found, "b"));
    const circle = drawing({ nodes, edges: [edge("a", "b"), edge("b", "a")] });
    expect(new Set(circle.nodes.map(({ x, y }) => `${x},${y}`)).size).toBe(4);
  });

  it("tells edges that configure, and what a step takes of all before it", () => {
    const flow: Flow = {
      nodes: [
        node("one", 0),
        node("two", 400),
        node("three", 800, 0, { policy: { input_source: "all_previous_steps" } as never }),
        node("llm", 400, 300, { type: "LanguageModel" }),
      ],
      edges: [edge("one", "two"), edge("two", "three"), edge("llm", "two", "model", "model")],
    };
    const kinds = Object.fromEntries(drawing(flow, { LanguageModel: model }).edges.map((one) => [one.id, one.kind]));
    expect(kinds).toEqual({
      "one.text>two.input": "data",
      "two.text>three.input": "data",
      "llm.model>two.model": "configures",
      "one>>three": "gathers",
    });
  });

  it("leaves out edges to nowhere and draws an empty flow", () => {
    expect(drawing({ nodes: [node("a")], edges: [edge("a", "gone")] }).edges).toEqual([]);
    expect(drawing({}).width).toBeGreaterThan(0);
  });

  it("draws 300 nodes in a row at once", () => {
    const nodes = Array.from({ length: 300 }, (_, at) => node(`n${at}`));
    const edges = nodes.slice(1).map((one, at) => edge(`n${at}`, one.id));
    const found = drawing({ nodes, edges });
    expect(at(found, "n299")).toBeGreaterThan(at(found, "n298"));
  });
});

const at = (found: ReturnType<typeof drawing>, id: string) => found.nodes.find((box) => box.id === id)?.x ?? -1;

describe("arrow keys", () => {
  const { nodes } = drawing({ nodes: [node("a"), node("b", 400, 20), node("c", 400, 400), node("d", 0, 400)] });

  it("lead to the nearest node that way", () => {
    expect(neighbour(nodes, "a", "ArrowRight")).toBe("b");
    expect(neighbour(nodes, "a", "ArrowDown")).toBe("d");
    expect(neighbour(nodes, "c", "ArrowLeft")).toBe("d");
    expect(neighbour(nodes, "a", "ArrowLeft")).toBeNull();
    expect(neighbour(nodes, "a", "x")).toBeNull();
  });
});

describe("a text cut to a width", () => {
  it("counts wide characters twice and takes line ends for spaces", () => {
    expect(cut("short", 10)).toBe("short");
    expect(cut("a rather long name", 8)).toBe("a rather…");
    expect(cut("日本語テキスト", 6)).toBe("日本語…");
    expect(cut("two\nlines\u0000", 20)).toBe("two lines");
  });
});
