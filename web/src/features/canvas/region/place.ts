import { overlaps, type Rect } from "@/lib/layout";
import { type CanvasNode, rectOf } from "../model/flowNodes";
import { BELOW } from "../model/regions";
import type { Size } from "../model/view";

const ABOVE = 20;
const APART = 12;

/** Where frames stand: below their node, above it where others stand below; over as few others as possible where there is no room. */
export function placesOf(
  nodes: readonly CanvasNode[],
  sizes: Readonly<Record<string, Size>>,
): { id: string; rect: Rect; node: Rect }[] {
  const steps = nodes.filter((node) => node.type !== "frame");
  const places: { id: string; rect: Rect; node: Rect }[] = [];
  for (const step of steps) {
    const size = sizes[step.id];
    if (!size) continue;
    const node = rectOf(step);
    const taken = [...steps.filter((other) => other.id !== step.id).map(rectOf), ...places.map((place) => place.rect)];
    places.push({ id: step.id, node, rect: freest(candidates(node, size), taken) });
  }
  return places;
}

/** The first of the choices that cover the fewest others. */
function freest(choices: readonly Rect[], taken: readonly Rect[]): Rect {
  const covered = choices.map((choice) => taken.filter((one) => overlaps(choice, one, APART)).length);
  return choices[covered.indexOf(Math.min(...covered))] as Rect;
}

/** Below, then above: from the node's left side, its middle, its right side. */
function candidates(node: Rect, size: Size): Rect[] {
  const [below, above] = [node.y + node.height + BELOW, node.y - size.height - ABOVE];
  const spare = node.width - size.width;
  return [below, above].flatMap((y) => [0, spare / 2, spare].map((dx) => ({ ...size, x: node.x + dx, y })));
}
