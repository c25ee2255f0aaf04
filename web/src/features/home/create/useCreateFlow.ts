import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";
import type { components } from "@/api/schema";
import { toastError } from "@/components/ui";
import { useRequests } from "@/lib/requests";
import { useHomeTexts } from "../texts";
import { nameOfSentence } from "./sentence";

type FlowCreate = components["schemas"]["FlowCreate"];

interface Wanted {
  /** What the assistant is asked to build in it. */
  ask?: string;
  body: FlowCreate;
}

/** Makes a flow and opens it; the page of the flow asks the assistant. */
export function useCreateFlow(space: string | undefined) {
  const t = useHomeTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const made = useMutation({
    mutationFn: ({ body }: Wanted) =>
      unwrap(api.POST("/api/v1/flows", { body: { ...(space ? { space_id: space } : {}), ...body } })),
    onSuccess: async (flow, { ask }) => {
      client.setQueryData(flowKeys.one(flow.id), flow);
      void client.invalidateQueries({ queryKey: flowKeys.lists });
      if (ask) useRequests.getState().announceAsk(ask);
      await navigate({ to: "/flows/$flowId", params: { flowId: flow.id }, search: ask ? { ask } : {} });
    },
    onError: (error) => toastError(t("failed_create"), error),
  });
  return {
    busy: made.isPending,
    empty: () => made.mutate({ body: { name: t("untitled") } }),
    sentence: (ask: string) => made.mutate({ ask, body: { name: nameOfSentence(ask) || t("untitled") } }),
    spec: (spec: string, name?: string) => made.mutate({ body: { spec, ...(name ? { name } : {}) } }),
  };
}
