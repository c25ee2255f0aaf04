import { useEffect, useState } from "react";
import { useDraft, useDraftStore } from "@/lib/draft";

/** The revision that the server has of the draft, once it has it all. */
export function useSavedRevision(): number | null {
  const store = useDraftStore();
  const revision = useDraft((state) => state.revision);
  const [saved, setSaved] = useState(false);
  useEffect(() => {
    void store
      .getState()
      .flush()
      .finally(() => setSaved(true));
  }, [store]);
  return saved ? revision : null;
}
