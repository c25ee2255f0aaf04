import { describe, expect, it } from "vitest";
import { laneOf } from "./lanes";
import { route } from "./paths";

const FROM = { x: 0, y: 0 };
const TO = { x: 900, y: 0 };
const node = (x: number, y: number) => ({ x, y, width: 200, height: 80 });

describe("the lane of an edge", () => {
  it("is none where its curve meets no node", () => {
    expect(laneOf(FROM, TO, [])).toBeNull();
    expect(laneOf(FROM, TO, [node(300, 40)])).toBeNull();
    expect(laneOf(FROM, { x: 100, y: 0 }, [node(20, -40)])).toBeNull();
  });
  it("passes on the nearer side of a node, clear of it", () => {
    expect(laneOf(FROM, TO, [node(300, -60)])).toEqual({ y: 38, from: 282, to: 518 });
    expect(laneOf(FROM, TO, [node(300, -20)])).toEqual({ y: -38, from: 282, to: 518 });
  });
  it("passes none of the neighbouring nodes either", () => {
    const nodes = [node(300, -60), node(320, 30), node(310, -170)];
    const lane = laneOf(FROM, TO, nodes);
    expect(lane).not.toBeNull();
    const y = lane?.y ?? 0;
    for (const one of nodes) expect(y <= one.y - 18 || y >= one.y + one.height + 18).toBe(true);
  });
  it("is one level line past several nodes in a row", () => {
    expect(laneOf(FROM, TO, [node(200, -40), node(500, -60)])).toEqual({ y: 58, from: 182, to: 718 });
  });
  it("is drawn from port to port", () => {
    expect(route(FROM, TO, { y: 58, from: 182, to: 718 })).toBe("M0 0C91 0 91 58 182 58L718 58C809 58 809 0 900 0");
    expect(route(FROM, TO, null)).toMatch(/^M0 0C450 0 450 0 900 0$/);
  });
});
