import { useOnViewportChange, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { type Stage, show } from "../model/stage";
import { FAR_BELOW, useView } from "../model/view";

/** Where each flow was looked at last, until the page is left. */
const remembered = new Map<string, Viewport>();
const isFar = (zoom: number) => zoom < FAR_BELOW;

/** Watches how the canvas is looked at: level of detail, one layer while it moves, the place to come back to. */
export function useViewport(stage: Stage) {
  const { flowId } = stage.store.getState();
  const element = useRef<Element | null>(null);
  const mark = useCallback((moving: boolean) => {
    element.current ??= document.querySelector(".react-flow__viewport");
    element.current?.classList.toggle("moving", moving);
  }, []);
  useOnViewportChange({
    onChange: useCallback(({ zoom }: Viewport) => {
      const far = isFar(zoom);
      if (far !== useView.getState().far) useView.getState().set({ far });
    }, []),
  });
  useEffect(() => () => useView.getState().set({ far: false, connecting: null, adding: null, renaming: null }), []);
  return useMemo(
    () => ({
      onInit: () => {
        const before = remembered.get(flowId);
        if (before) void stage.flow.setViewport(before);
        else show(stage, undefined, false);
      },
      onMoveStart: () => mark(true),
      onMoveEnd: (_event: unknown, viewport: Viewport) => {
        mark(false);
        remembered.set(flowId, viewport);
      },
    }),
    [stage, flowId, mark],
  );
}
