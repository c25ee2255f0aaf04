import { type DragEvent, useMemo } from "react";
import { add } from "../actions/nodes";
import { NODE_WIDTH } from "../model/card";
import type { Stage } from "../model/stage";
import { DRAG_KIND } from "../palette/catalogue";

/** A component dragged from the palette lands where it is dropped. */
export function useDropping(stage: Stage) {
  return useMemo(
    () => ({
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes(DRAG_KIND)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
      },
      onDrop: (event: DragEvent) => {
        const template = stage.store.getState().templates[event.dataTransfer.getData(DRAG_KIND)];
        if (!template) return;
        event.preventDefault();
        const at = stage.flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
        add(stage, template, { x: at.x - NODE_WIDTH / 2, y: at.y - 22 });
      },
    }),
    [stage],
  );
}
