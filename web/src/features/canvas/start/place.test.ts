import { expect, test } from "vitest";
import type { CanvasNode } from "../model/flowNodes";
import { START_GAP, startOf } from "./place";

const node = (id: string, x: number, y: number) =>
  ({ id, type: "step", position: { x, y }, width: 240, height: 100 }) as CanvasNode;

test("triggers end above the first step", () => {
  expect(startOf([node("a", 0, 50), node("b", 400, -300)], "a")).toEqual({ x: 0, bottom: 50 - START_GAP });
});

test("what is over the first step is not covered", () => {
  expect(startOf([node("a", 0, 50), node("b", 100, -300)], "a")).toEqual({ x: 0, bottom: -300 - START_GAP });
});

test("a flow without steps has no start", () => {
  expect(startOf([], undefined)).toBeNull();
});
