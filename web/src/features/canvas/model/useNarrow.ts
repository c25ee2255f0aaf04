import { useSyncExternalStore } from "react";

const query = globalThis.matchMedia?.("(max-width: 720px)");

/** Whether the window has no room for a panel beside the canvas. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      query?.addEventListener("change", changed);
      return () => query?.removeEventListener("change", changed);
    },
    () => query?.matches ?? false,
  );
}
