import { useEffect } from "react";
import type { JsonValue } from "@/api/types";
import { useDraft, useDraftStore } from "@/lib/draft";
import { readStored, removeStored, writeStored } from "@/lib/storage";

type Pins = Record<string, Record<string, JsonValue>>;

/** Keeps pinned outputs of a flow in this browser; they are never saved with the flow, and never published. */
export function usePins(): void {
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  useEffect(() => {
    const key = `pins.${flowId}`;
    for (const [id, outputs] of Object.entries(readStored<Pins>(key, {}))) store.getState().pin(id, outputs);
    return store.subscribe((state, before) => {
      if (state.pinned === before.pinned) return;
      if (Object.keys(state.pinned).length === 0) removeStored(key);
      else writeStored(key, state.pinned);
    });
  }, [flowId, store]);
}
