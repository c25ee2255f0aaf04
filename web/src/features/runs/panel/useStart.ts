import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import type { RunOut, RunStart } from "@/api/types";
import { toast, toastError } from "@/components/ui";
import { useDraftStore } from "@/lib/draft";
import { useRunTexts } from "../texts";

/** Starts a run of the draft as it is now: what is not saved yet is saved first. */
export function useStart(): { start: (wanted: RunStart) => Promise<RunOut | null>; starting: boolean } {
  const t = useRunTexts();
  const store = useDraftStore();
  const queries = useQueryClient();
  const [starting, setStarting] = useState(false);
  const start = useCallback(
    async (wanted: RunStart) => {
      setStarting(true);
      try {
        if (!(await store.getState().flush())) {
          toast({ title: t("not_saved"), tone: "bad" });
          return null;
        }
        // What keeps the draft from running is shown by the panel; asking anyway would only be refused.
        const { issues, flowId } = store.getState();
        const isWholeDraft = !wanted.version && !wanted.only_step && !wanted.from_step;
        if (isWholeDraft && issues.some(({ severity }) => severity === "error")) return null;
        const run = await unwrap(
          api.POST("/api/v1/flows/{flow_id}/runs", {
            params: { path: { flow_id: flowId } },
            body: wanted,
          }),
        );
        queries.setQueryData(runKeys.one(run.id), run);
        void queries.invalidateQueries({ queryKey: runKeys.lists });
        return run;
      } catch (error) {
        toastError(t("start_failed"), error);
        return null;
      } finally {
        setStarting(false);
      }
    },
    [store, queries, t],
  );
  return { start, starting };
}
