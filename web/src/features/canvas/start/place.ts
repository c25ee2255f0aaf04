import { boundsOf, type Rect } from "@/lib/layout";
import { type CanvasNode, rectOf } from "../model/flowNodes";

/** Width of what is drawn at the start of a flow. */
export const START_WIDTH = 256;

/** From the nodes below it. */
export const START_GAP = 20;

/** Where the triggers of a flow end: above its first step and above everything that is over it; null without steps. */
export function startOf(nodes: readonly CanvasNode[], first: string | undefined): { x: number; bottom: number } | null {
  const step = nodes.find((node) => node.id === first);
  if (!step) return null;
  const { x } = rectOf(step);
  const over = nodes.map(rectOf).filter((rect) => rect.x < x + START_WIDTH && rect.x + rect.width > x);
  return { x, bottom: (boundsOf(over) as Rect).y - START_GAP };
}
