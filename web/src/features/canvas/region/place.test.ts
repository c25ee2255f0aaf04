import { beforeEach, expect, it } from "vitest";
import { overlaps } from "@/lib/layout";
import type { CanvasNode } from "../model/flowNodes";
import { BELOW, withRegions } from "../model/regions";
import { useView } from "../model/view";
import { placesOf } from "./place";

const SIZE = { width: 400, height: 200 };
const node = (id: string, x: number, y: number) =>
  ({ id, type: "step", position: { x, y }, width: 240, height: 120 }) as CanvasNode;
const one = (nodes: CanvasNode[]) => placesOf(nodes, { each: SIZE })[0]?.rect;

beforeEach(() => useView.getState().set({ regions: {} }));

it("puts a frame below its node", () => {
  expect(one([node("each", 0, 0)])).toEqual({ x: 0, y: 120 + BELOW, ...SIZE });
});

it("moves it aside, or above the node, where others stand below", () => {
  expect(one([node("each", 0, 0), node("right", 300, 200)])).toMatchObject({ x: -160, y: 120 + BELOW });
  expect(one([node("each", 0, 0), node("below", 0, 200)])?.y).toBeLessThan(-200);
});

it("covers others where there is no room, and never another frame that has some", () => {
  const crowded = [node("each", 0, 0), node("below", 0, 200), node("above", 0, -200)];
  expect(one(crowded)).toMatchObject({ x: 0, y: 120 + BELOW });
  const [first, second] = placesOf([node("each", 0, 0), node("loop", 300, 0)], { each: SIZE, loop: SIZE });
  expect(first && second && overlaps(first.rect, second.rect)).toBe(false);
});

it("draws none for a node that is gone", () => {
  expect(one([node("other", 0, 0)])).toBeUndefined();
});

it("keeps room for open frames in the layout", () => {
  useView.getState().set({ regions: { each: SIZE, gone: SIZE } });
  const rect = { x: 5, y: 6, width: 240, height: 120 };
  expect(withRegions({ each: rect, other: rect })).toEqual({
    each: { x: 5, y: 6, width: 400, height: 120 + BELOW + 200 },
    other: rect,
  });
});
