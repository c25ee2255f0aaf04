import { useEffect } from "react";
import type { JsonValue } from "@/api/types";
import { asBreakpoints } from "@/lib/breakpoints";
import { useDraft, useDraftStore } from "@/lib/draft";
import { readStored, removeStored, writeStored } from "@/lib/storage";

type Pins = Record<string, Record<string, JsonValue>>;

/** Keeps pinned outputs and breakpoints of a flow in this browser; they are never part of the flow or a version. */
export function usePins(): void {
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  useEffect(() => {
    const key = `pins.${flowId}`;
    const stops = `breakpoints.${flowId}`;
    store.getState().setBreakpoints(asBreakpoints(readStored<unknown>(stops, [])));
    for (const [id, outputs] of Object.entries(readStored<Pins>(key, {}))) store.getState().pin(id, outputs);
    return store.subscribe((state, before) => {
      if (state.breakpoints !== before.breakpoints) {
        if (state.breakpoints.length === 0) removeStored(stops);
        else writeStored(stops, state.breakpoints);
      }
      if (state.pinned === before.pinned) return;
      if (Object.keys(state.pinned).length === 0) removeStored(key);
      else writeStored(key, state.pinned);
    });
  }, [flowId, store]);
}
