import { useSyncExternalStore } from "react";

const narrow = globalThis.matchMedia?.("(width < 40rem)");

/** Whether the screen is too narrow for panels beside each other. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (told) => {
      narrow?.addEventListener("change", told);
      return () => narrow?.removeEventListener("change", told);
    },
    () => narrow?.matches ?? false,
  );
}
