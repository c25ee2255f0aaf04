import type { Rect } from "@/lib/layout";
import { around, motion, type Stage, sight, within } from "../model/stage";

const READABLE = 0.6;

/** Bring a rectangle into sight, unless all of it can be seen and read already. */
export function revealRect(stage: Stage, rect: Rect): void {
  const box = sight();
  const viewport = stage.flow.getViewport();
  if (!box || (within(rect, viewport, box) && viewport.zoom > READABLE)) return;
  void stage.flow.setViewport(around(rect, box, 16, 1), motion());
}
