import { describe, expect, it } from "vitest";
import type { Flow } from "@/api/types";
import { changeLines, compare, isLong, shown } from "./comparison";

const at = (id: string, x: number) => ({ id, type: "AIStep", position: { x, y: 0 } });
const edge = (source: string, target: string) => ({ source, output: "text", target, input: "input" });
const before: Flow = { nodes: [at("a", 0), at("old", 380)], edges: [edge("a", "old")] };
const after: Flow = { nodes: [at("a", 0), at("new", 380)], edges: [edge("a", "new")] };
const changes = {
  nodes_added: [{ id: "new", type: "AIStep", label: "New" }],
  nodes_removed: [{ id: "old", type: "AIStep" }],
  nodes_changed: [
    { id: "a", changes: [{ path: "params.text", kind: "changed" as const, before: "x", after: "y\nz" }] },
  ],
  edges_added: ["a.text -> new.input"],
  edges_removed: ["a.text -> old.input"],
  flow_changes: [{ path: "name", kind: "changed" as const, before: "A", after: "B" }],
};

describe("two flows in one picture", () => {
  it("show what came, went and changed, each where it stands", () => {
    const found = compare(before, after, changes);
    expect(found.marks).toEqual({ new: "added", old: "removed", a: "changed" });
    expect(found.edgeMarks).toEqual({ "a.text>new.input": "added", "a.text>old.input": "removed" });
    expect(found.flow.nodes?.map((node) => node.id)).toEqual(["a", "new", "old"]);
  });

  it("put what is gone below what took its place", () => {
    const old = compare(before, after, changes).flow.nodes?.at(-1);
    expect(old?.position).toEqual({ x: 380, y: 130 });
  });
});

describe("the list of changes", () => {
  it("has a line for each, in words", () => {
    const lines = changeLines(changes);
    expect(lines.map((line) => [line.kind, line.what, line.name])).toEqual([
      ["added", "node", "New"],
      ["removed", "node", "old"],
      ["changed", "field", "params.text"],
      ["added", "edge", "a.text -> new.input"],
      ["removed", "edge", "a.text -> old.input"],
      ["changed", "field", "name"],
    ]);
    expect(new Set(lines.map((line) => line.key)).size).toBe(lines.length);
    expect(lines.filter(isLong).map((line) => line.name)).toEqual(["params.text"]);
  });

  it("reads objects member by member, not as JSON", () => {
    expect(shown({ url: "https://x", headers: { A: 1 }, list: [true, { b: null }] })).toBe(
      "url: https://x\nheaders:\n  A: 1\nlist:\n  – true\n  –\n    b: –",
    );
    expect(shown(null)).toBe("–");
  });
});
