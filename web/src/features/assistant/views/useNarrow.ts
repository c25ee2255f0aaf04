import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 767px)";

/** Whether the window is too narrow for a panel beside the flow. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(NARROW);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(NARROW).matches,
  );
}
