import { Suspense } from "react";
import { useDraft, useDraftStore } from "@/lib/draft";
import { part } from "@/lib/part";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { ClosedBanner } from "./ClosedBanner";
import { ConflictBanner } from "./ConflictBanner";
import { LeftBanner } from "./LeftBanner";
import { Passing, usePassing } from "./Passing";
import { SignedOutBanner } from "./SignedOutBanner";
import { useSaving } from "./useSaving";

const ConflictDialog = part(async () => ({ default: (await import("./ConflictDialog")).ConflictDialog }));

/**
 * Keeps the open flow and the server's one thing, and says where that needs somebody. With `nested` the flow is not the
 * one of the page: the page's own says who else is there and whether the session has ended.
 */
export function Editing({ nested = false }: { nested?: boolean }) {
  const store = useDraftStore();
  const deciding = useDraft((state) => state.conflict !== null);
  const { notice, tell } = usePassing();
  const { ready, tab } = useSaving(tell, nested);
  useShortcuts({
    save: () => {
      void store.getState().flush();
      return true;
    },
  });
  return (
    <>
      <ClosedBanner />
      {!nested && <SignedOutBanner />}
      <ConflictBanner />
      {ready && <LeftBanner tab={tab} />}
      <Suspense>{deciding && <ConflictDialog />}</Suspense>
      <Passing notice={notice} />
    </>
  );
}
