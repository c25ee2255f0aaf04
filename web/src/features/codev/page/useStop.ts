import { useMutation, useQueryClient } from "@tanstack/react-query";
import { codevKeys, codevSessionQuery, retrySession, stopSession } from "@/api/queries/codev";
import { toastError } from "@/components/ui";
import { forgetKept } from "../model/useKept";
import { useCodevTexts } from "../texts";

/** Ends a session. */
export function useStop(id: string) {
  const t = useCodevTexts();
  return useAct(id, stopSession, t("stop_failed"));
}

/** Goes on with one that failed or was stopped. */
export function useRetry(id: string) {
  const t = useCodevTexts();
  return useAct(id, retrySession, t("retry_failed"));
}

function useAct(id: string, act: typeof stopSession, failed: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => act(id),
    onSuccess: (session) => {
      const { queryKey } = codevSessionQuery(id);
      const asked = queries.getQueryData(queryKey)?.interrupt;
      if (asked) forgetKept(asked.id);
      queries.setQueryData(queryKey, session);
      void queries.invalidateQueries({ queryKey: codevKeys.lists });
      void queries.invalidateQueries({ queryKey: codevKeys.waiting });
    },
    onError: (error) => {
      toastError(failed, error);
      void queries.invalidateQueries({ queryKey: codevKeys.one(id) });
    },
  });
}
