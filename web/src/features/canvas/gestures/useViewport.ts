import { useOnViewportChange, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { DraftStore } from "@/lib/draft";
import { boundsOf } from "@/lib/layout";
import { createFlowNodes, rectOf } from "../model/flowNodes";
import { around, type Stage } from "../model/stage";
import { isFar, useView } from "../model/view";

/** Where each flow was looked at last, until the page is left. */
const remembered = new Map<string, Viewport>();

/** Watches how the canvas is looked at: level of detail, one layer while it moves, the place to come back to. */
export function useViewport(stage: Stage) {
  const { flowId } = stage.store.getState();
  const element = useRef<Element | null>(null);
  const mark = useCallback((moving: boolean) => {
    element.current ??= document.querySelector(".react-flow__viewport");
    element.current?.classList.toggle("moving", moving);
  }, []);
  useOnViewportChange({
    onChange: useCallback(
      ({ zoom }: Viewport) => {
        const far = isFar(zoom, stage.drawn.nodes.length);
        if (far !== useView.getState().far) useView.getState().set({ far });
      },
      [stage],
    ),
  });
  useEffect(() => () => useView.getState().set({ far: false, connecting: null, adding: null, renaming: null }), []);
  return useMemo(
    () => ({
      onMoveStart: () => mark(true),
      onMoveEnd: (_event: unknown, viewport: Viewport) => {
        mark(false);
        remembered.set(flowId, viewport);
      },
    }),
    [flowId, mark],
  );
}

/** Where to look first: where one looked last, else at everything. Known before anything is drawn. */
export function firstViewport(store: DraftStore, size: { width: number; height: number }): Viewport {
  const { flowId, document, templates } = store.getState();
  const bounds = boundsOf(createFlowNodes()({ document, templates, selected: [], overlay: {} }).map(rectOf));
  const viewport = remembered.get(flowId) ?? (bounds ? around(bounds, size, 40, 1.1) : { x: 0, y: 0, zoom: 1 });
  useView.getState().set({ far: isFar(viewport.zoom, document.order.length) });
  return viewport;
}
