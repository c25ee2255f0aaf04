import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

const PATHS = {
  pause: "/api/v1/flow-runs/{run_id}/pause",
  continue: "/api/v1/flow-runs/{run_id}/continue",
} as const;

/** Pauses a run, or continues a paused one. */
export function usePause() {
  const t = useRunTexts();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, to }: { id: string; to: keyof typeof PATHS }) =>
      unwrap(api.POST(PATHS[to], { params: { path: { run_id: id } } })),
    onError: (error, { to }) => toastError(t(to === "pause" ? "pause_run" : "continue_run"), error),
    onSettled: (_data, _error, { id }) => {
      void queries.invalidateQueries({ queryKey: runKeys.lists });
      return queries.invalidateQueries({ queryKey: runKeys.one(id) });
    },
  });
}
