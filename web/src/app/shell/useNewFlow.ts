import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";
import { toastError } from "@/components/ui";
import { useAppTexts } from "../texts";

/** Makes an empty flow from wherever somebody is, and opens it. */
export function useNewFlow(): () => void {
  const t = useAppTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const made = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/flows", { body: { name: t("untitled_flow") } })),
    onSuccess: async (flow) => {
      client.setQueryData(flowKeys.one(flow.id), flow);
      void client.invalidateQueries({ queryKey: flowKeys.lists });
      await navigate({ to: "/flows/$flowId", params: { flowId: flow.id } });
    },
    onError: (error) => toastError(t("failed_new_flow"), error),
  });
  return () => made.mutate();
}
