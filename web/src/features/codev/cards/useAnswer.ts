import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/problem";
import { answerSession, type CodevAnswer, codevKeys, codevSessionQuery } from "@/api/queries/codev";
import { toast, toastError } from "@/components/ui";
import { forgetKept } from "../model/useKept";
import { useCodevTexts } from "../texts";

/** Answers what a session waits for. Where it was answered elsewhere, or goes on, the page shows how it stands now. */
export function useAnswer(id: string, interruptId: string) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const { queryKey } = codevSessionQuery(id);
  return useMutation({
    mutationFn: (response: CodevAnswer) => answerSession(id, interruptId, response),
    onSuccess: async (session) => {
      forgetKept(interruptId);
      // A question that was on its way knows nothing of the answer.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, session);
      void queries.invalidateQueries({ queryKey: codevKeys.lists });
      void queries.invalidateQueries({ queryKey: codevKeys.waiting });
    },
    onError: async (error) => {
      if (!(error instanceof ApiError) || error.status !== 409) return toastError(t("answer_failed"), error);
      forgetKept(interruptId);
      await queries.invalidateQueries({ queryKey });
      toast({ title: t("answered_elsewhere"), detail: t("answered_elsewhere_more") });
    },
  });
}

export type Answering = ReturnType<typeof useAnswer>;
