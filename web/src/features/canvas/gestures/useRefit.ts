import { useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { type Stage, show, showsAll } from "../model/stage";

/** Keeps the whole flow in view when a panel or the window takes space, as long as nobody has moved the view since. */
export function useRefit(stage: Stage): void {
  const api = useStoreApi();
  useEffect(() => {
    let before = sizeOf(api.getState());
    let refitted = false;
    return api.subscribe((state) => {
      if (state.paneDragging) refitted = false;
      const now = sizeOf(state);
      if (now.width === before.width && now.height === before.height) return;
      const [x, y, zoom] = state.transform;
      const sawAll = (size: Size) => size.width > 0 && showsAll(stage, { x, y, zoom }, size);
      refitted ||= sawAll(before) && !sawAll(now);
      before = now;
      if (refitted && now.width > 0) requestAnimationFrame(() => show(stage));
    });
  }, [api, stage]);
}

interface Size {
  width: number;
  height: number;
}

const sizeOf = ({ width, height }: Size): Size => ({ width, height });
