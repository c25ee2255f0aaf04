import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { toast, toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

/** Lets a failed run go on at the step that failed. */
export function useResume(run: RunOut) {
  const t = useRunTexts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/flow-runs/{run_id}/resume", { params: { path: { run_id: run.id } }, body: { wait: false } }),
      ),
    onSuccess: (found) => {
      toast({ title: t("resumed_now"), detail: found.reason });
      queries.setQueryData(runKeys.one(found.run.id), found.run);
      void queries.invalidateQueries({ queryKey: runKeys.lists });
      const params = { flowId: found.run.flow_id, runId: found.run.id };
      if (found.run.id !== run.id) void navigate({ to: "/flows/$flowId/runs/$runId", params });
    },
    onError: (error) => toastError(t("resume"), error),
  });
}
