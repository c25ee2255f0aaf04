import { describe, expect, it } from "vitest";
import { emptyNode, toDocument } from "@/lib/draft";
import { align, arrange, distribute, freePlace, overlaps } from ".";

const rect = (x: number, y: number, width = 100, height = 50) => ({ x, y, width, height });

describe("alignment", () => {
  const three = { a: rect(0, 0), b: rect(50, 80, 60), c: rect(300, 200) };
  it("lines up edges and middles", () => {
    expect(Object.values(align(three, "left")).map((one) => one.x)).toEqual([0, 0, 0]);
    expect(align(three, "right").b).toEqual({ x: 340, y: 80 });
    expect(align(three, "middle").a?.y).toBe(100);
  });
  it("spreads with one and the same gap", () => {
    const placed = distribute(three, "horizontal");
    expect([placed.a?.x, placed.c?.x]).toEqual([0, 300]);
    expect((placed.b?.x ?? 0) - 100).toBe(300 - ((placed.b?.x ?? 0) + 60));
  });
});

describe("a free place", () => {
  it("is not on anything", () => {
    const taken = [rect(0, 0), rect(0, 90)];
    const place = freePlace(rect(0, 0), taken);
    expect(taken.some((one) => overlaps({ ...rect(0, 0), ...place }, one))).toBe(false);
  });
});

describe("auto layout", () => {
  const node = (id: string) => ({ ...emptyNode(), id, type: "X" });
  const document = toDocument({
    name: "",
    nodes: ["a", "b", "c", "frame"].map(node),
    edges: [
      { source: "a", output: "o", target: "b", input: "i" },
      { source: "b", output: "o", target: "c", input: "i" },
    ],
  });
  const rects = { a: rect(700, 10), b: rect(500, 10), c: rect(0, 10), frame: rect(400, 0, 500, 100) };
  it("puts steps from left to right, nothing on anything, frames around what they held", async () => {
    const found = await arrange(document, rects, { frame: ["a", "b"] });
    const at = (id: "a" | "b" | "c") => ({ ...rects[id], ...found.positions[id] });
    expect(at("a").x).toBeLessThan(at("b").x);
    expect(at("b").x).toBeLessThan(at("c").x);
    expect(overlaps(at("a"), at("b"))).toBe(false);
    const frame = found.frames.frame ?? rect(0, 0);
    expect(frame.x).toBeLessThan(at("a").x);
    expect(frame.x + frame.width).toBeGreaterThan(at("b").x + 100);
  });
  it("moves only what is named", async () => {
    const found = await arrange(document, rects, {}, ["a", "b"]);
    expect(Object.keys(found.positions).sort()).toEqual(["a", "b"]);
  });
});
