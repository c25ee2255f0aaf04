import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { toast, toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

/** Sends one delivery of a run again, or every failed one (`null`). No step runs again. */
export function useRedeliver(runId: string) {
  const t = useRunTexts();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (deliveryId: string | null) =>
      deliveryId === null
        ? unwrap(api.POST("/api/v1/flow-runs/{run_id}/redeliver", { params: { path: { run_id: runId } } }))
        : unwrap(
            api.POST("/api/v1/flow-runs/{run_id}/deliveries/{delivery_id}/redeliver", {
              params: { path: { run_id: runId, delivery_id: deliveryId } },
            }),
          ),
    onSuccess: ({ deliveries }, deliveryId) =>
      toast({
        title: deliveryId === null ? t("redelivered_all", { count: deliveries.length }) : t("redelivered"),
      }),
    onError: (error) => toastError(t("redeliver"), error),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: runKeys.one(runId) }),
        queries.invalidateQueries({ queryKey: runKeys.lists }),
      ]),
  });
}
