import { describe, expect, it } from "vitest";
import type { CanvasNode } from "../model/flowNodes";
import { nodeAt, nodesIn } from "./hits";

const node = (id: string, x: number, type: "step" | "frame" = "step", width = 100) =>
  ({ id, type, position: { x, y: 0 }, width, height: 100 }) as unknown as CanvasNode;
const NODES = [node("frame", 0, "frame", 500), node("a", 20), node("b", 60)];

describe("boxes of the far view", () => {
  it("are hit the topmost first, frames by their title only", () => {
    expect(nodeAt(NODES, 70, 50, 1)?.id).toBe("b");
    expect(nodeAt(NODES, 30, 50, 1)?.id).toBe("a");
    expect(nodeAt(NODES, 400, 10, 1)?.id).toBe("frame");
    expect(nodeAt(NODES, 400, 80, 1)).toBeNull();
  });
  it("are chosen by a box that touches them", () => {
    expect(nodesIn(NODES, { x: 0, y: 0, width: 30, height: 30 })).toEqual(["a"]);
  });
});
