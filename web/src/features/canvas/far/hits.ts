import type { Rect } from "@/lib/layout";
import { overlaps } from "@/lib/layout";
import { type CanvasNode, rectOf } from "../model/flowNodes";

const TITLE = 40;

/** The node at a point: the last drawn, frames only by their title. */
export function nodeAt(nodes: readonly CanvasNode[], x: number, y: number, zoom: number): CanvasNode | null {
  let frame: CanvasNode | null = null;
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    const node = nodes[index];
    if (!node) continue;
    const rect = rectOf(node);
    if (x < rect.x || y < rect.y || x > rect.x + rect.width || y > rect.y + rect.height) continue;
    if (node.type !== "frame") return node;
    if (y < rect.y + Math.max(TITLE, 14 / zoom)) frame ??= node;
  }
  return frame;
}

/** The nodes that a box touches. */
export function nodesIn(nodes: readonly CanvasNode[], box: Rect): string[] {
  return nodes.filter((node) => node.type !== "frame" && overlaps(rectOf(node), box)).map((node) => node.id);
}
