import { type ReactFlowInstance, useReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { type DraftStore, useDraftStore } from "@/lib/draft";
import { boundsOf, type Rect } from "@/lib/layout";
import { useSay } from "../texts";
import type { CanvasEdge } from "./flowEdges";
import { type CanvasNode, rectOf, rectsOf } from "./flowNodes";

/** What an action needs: the draft, the drawing, and words to tell of it. */
export interface Stage {
  store: DraftStore;
  flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  t: ReturnType<typeof useSay>;
}

export function useStage(): Stage {
  const store = useDraftStore();
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const t = useSay();
  return useMemo(() => ({ store, flow, t }), [store, flow, t]);
}

export const rects = (stage: Stage): Record<string, Rect> => rectsOf(stage.flow.getNodes());

export function selectedRects(stage: Stage): Record<string, Rect> {
  const chosen = new Set(stage.store.getState().selectedNodes);
  return rectsOf(stage.flow.getNodes().filter((node) => chosen.has(node.id)));
}

/** The middle of what can be seen, in the flow's own units. */
export function middle(stage: Stage): { x: number; y: number } {
  const box = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box) return { x: 0, y: 0 };
  return stage.flow.screenToFlowPosition({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
}

const MOTION_MS = 220;

export function motion(): { duration: number } {
  const still =
    document.documentElement.dataset.motion === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { duration: still ? 0 : MOTION_MS };
}

/** Bring nodes into sight; a few stay readable, all of them are shown whole. */
export function show(stage: Stage, ids?: readonly string[], animated = true): void {
  const chosen = ids ? new Set(ids) : null;
  const bounds = boundsOf(
    stage.flow
      .getNodes()
      .filter((node) => !chosen || chosen.has(node.id))
      .map(rectOf),
  );
  if (!bounds) return;
  const padded = chosen ? grown(bounds, 160) : grown(bounds, 40);
  const box = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box || box.width === 0) return;
  const zoom = Math.min(box.width / padded.width, box.height / padded.height, chosen ? 1 : 1.1);
  const viewport = {
    zoom: Math.max(zoom, 0.05),
    x: box.width / 2 - (bounds.x + bounds.width / 2) * Math.max(zoom, 0.05),
    y: box.height / 2 - (bounds.y + bounds.height / 2) * Math.max(zoom, 0.05),
  };
  void stage.flow.setViewport(viewport, animated ? motion() : { duration: 0 });
}

/** Bring one node into sight without changing how large things are, unless it could not be read. */
export function reveal(stage: Stage, id: string): void {
  const node = stage.flow.getNode(id);
  const box = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!node || !box) return;
  const rect = rectOf(node);
  const { x, y, zoom } = stage.flow.getViewport();
  const seen =
    rect.x * zoom + x > 0 &&
    rect.y * zoom + y > 0 &&
    (rect.x + rect.width) * zoom + x < box.width &&
    (rect.y + rect.height) * zoom + y < box.height;
  if (seen && zoom > 0.5) return;
  void stage.flow.setCenter(rect.x + rect.width / 2, rect.y + rect.height / 2, {
    zoom: Math.max(zoom, 0.8),
    ...motion(),
  });
}

const grown = (rect: Rect, by: number): Rect => ({
  x: rect.x - by,
  y: rect.y - by,
  width: rect.width + 2 * by,
  height: rect.height + 2 * by,
});
