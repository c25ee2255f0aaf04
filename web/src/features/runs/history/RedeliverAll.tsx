import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { Button, toast, toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

/** Sends every failed delivery again: of one flow, or of all that the user may start. */
export function RedeliverAll({ flowId }: { flowId: string | undefined }) {
  const t = useRunTexts();
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/deliveries/redeliver", { body: flowId ? { flow_id: flowId } : {} })),
    onSuccess: ({ ids }) => {
      toast({ title: t("redelivered_all", { count: ids.length }) });
      void client.invalidateQueries({ queryKey: runKeys.all });
    },
    onError: (error) => toastError(t("redeliver_all"), error),
  });
  return (
    <Button size="sm" className="self-start" busy={send.isPending} onClick={() => send.mutate()}>
      <Send aria-hidden className="size-4" />
      {t("redeliver_all")}
    </Button>
  );
}
