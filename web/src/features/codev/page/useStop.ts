import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CodevSession, codevKeys, codevSessionQuery, retrySession, stopSession } from "@/api/queries/codev";
import { toastError } from "@/components/ui";
import { forgetKept } from "../model/useKept";
import { useCodevTexts } from "../texts";

/** Ends a session. */
export function useStop(id: string) {
  const t = useCodevTexts();
  return useAct<void>(id, () => stopSession(id), t("stop_failed"));
}

/** Continues one that failed or stopped, with a model (empty: the one it had) and a larger budget where given. */
export function useRetry(id: string) {
  const t = useCodevTexts();
  return useAct(id, (wanted: { model?: string; budget?: number }) => retrySession(id, wanted), t("retry_failed"));
}

function useAct<Given>(id: string, act: (given: Given) => Promise<CodevSession>, failed: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
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
