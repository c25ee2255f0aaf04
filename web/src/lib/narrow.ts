import { useSyncExternalStore } from "react";

const NARROW = "(width < 48rem)";

/** Whether the window is too narrow for a panel beside the flow. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (told) => {
      const query = matchMedia(NARROW);
      query.addEventListener("change", told);
      return () => query.removeEventListener("change", told);
    },
    () => matchMedia(NARROW).matches,
  );
}
