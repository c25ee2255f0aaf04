import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type AttentionAction, actOnAttention, allAttention } from "@/api/queries/attention";
import { runKeys } from "@/api/queries/runs";
import { toast, toastError } from "@/components/ui";
import { useObserveTexts } from "../texts";

/** Acts on items, says what happened, and reads the list again. What was dismissed can be shown again at once. */
export function useAct() {
  const t = useObserveTexts();
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (body: AttentionAction) => actOnAttention(body),
    onSuccess: ({ items, left }, { action, keys, until }) => {
      const done = items.filter((one) => one.done).length;
      const refused = items.some((one) => one.problem);
      if (action === "dismiss" && !refused) {
        toast({
          title: t(until ? "muted" : "dismissed"),
          action: { label: t("undo"), onClick: () => act.mutate({ action: "restore", keys, published: false }) },
        });
      } else if (done > 0 && action !== "restore") toast({ title: t("acted", { count: done }), tone: "ok" });
      if (left > 0) toast({ title: t("acted_left", { count: left }) });
    },
    onError: (error) => toastError(t("act_failed"), error),
    onSettled: () => {
      void client.invalidateQueries(allAttention);
      void client.invalidateQueries({ queryKey: runKeys.all });
    },
  });
  return act;
}
