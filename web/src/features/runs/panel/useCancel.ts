import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

/** Ends a run. */
export function useCancel() {
  const t = useRunTexts();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(api.POST("/api/v1/flow-runs/{run_id}/cancel", { params: { path: { run_id: id } } })),
    onError: (error) => toastError(t("stop"), error),
    onSettled: (_data, _error, id) => queries.invalidateQueries({ queryKey: runKeys.one(id) }),
  });
}
