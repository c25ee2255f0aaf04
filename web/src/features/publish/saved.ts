import { useEffect, useState } from "react";
import { useDraft, useDraftStore } from "@/lib/draft";

/** The revision that the server has of what is on the screen; null while it is being saved. */
export function useSavedDraft(): number | null {
  const store = useDraftStore();
  const state = useDraft((draft) => draft.saveState);
  const revision = useDraft((draft) => draft.revision);
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    void store
      .getState()
      .flush()
      .finally(() => setAsked(true));
  }, [store]);
  return asked && state === "saved" ? revision : null;
}
