import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { assistantConfigQuery } from "@/api/queries/assistant";
import { flowKeys } from "@/api/queries/flows";
import type { components } from "@/api/schema";
import { uploadFile } from "@/api/uploads";
import { toast, toastError } from "@/components/ui";
import { servedWords } from "@/lib/i18n/served";
import { useRequests } from "@/lib/requests";
import { keepSample } from "@/lib/sample";
import { useHomeTexts } from "../texts";
import { nameOfSentence } from "./sentence";

type Template = components["schemas"]["TemplateOut"];
type FlowCreate = components["schemas"]["FlowCreate"];

/** The members that are read of the end of a turn. */
interface Answer {
  choices: string[];
  flow: object | null;
  flow_id: string | null;
  result: string;
}

interface Wanted {
  /** What the assistant is asked to build in it. */
  ask?: string;
  body: FlowCreate;
  /** Whether the flow is opened by whoever asked for it. */
  stay?: boolean;
}

/** What the offline builder answers when it builds nothing: the reason, and requests that it can carry out. */
export interface Refusal {
  choices: string[];
  /** The request that was refused. */
  sentence: string;
  text: string;
}

/**
 * Makes a flow and opens it; the page of the flow asks the assistant. The offline builder is asked first, so that
 * nothing is stored for a sentence that it refuses.
 */
export function useCreateFlow(space: string | undefined) {
  const t = useHomeTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [refusal, setRefusal] = useState<Refusal>();
  const asked = useMutation({
    mutationFn: async (ask: string) => {
      const config = await client.fetchQuery(assistantConfigQuery);
      if (config.default_provider !== "offline") return undefined;
      return (await unwrap(api.POST("/api/v1/agentic/assist", { body: { input_value: ask } }))) as unknown as Answer;
    },
    onMutate: () => setRefusal(undefined),
    onSuccess: async (answer, ask) => {
      if (!answer || (answer.flow && !answer.flow_id)) {
        made.mutate({ ask, body: { name: nameOfSentence(ask) || t("untitled") } });
      } else if (answer.flow_id) {
        void client.invalidateQueries({ queryKey: flowKeys.lists });
        await navigate({ to: "/flows/$flowId", params: { flowId: answer.flow_id } });
      } else {
        setRefusal({ choices: answer.choices, sentence: ask, text: answer.result });
      }
    },
    onError: (error) => toastError(t("failed_create"), error),
  });
  const made = useMutation({
    mutationFn: ({ body }: Wanted) =>
      unwrap(api.POST("/api/v1/flows", { body: { ...(space ? { space_id: space } : {}), ...body } })),
    onSuccess: async (flow, { ask, stay }) => {
      client.setQueryData(flowKeys.one(flow.id), flow);
      void client.invalidateQueries({ queryKey: flowKeys.lists });
      if (ask) useRequests.getState().announceAsk(ask);
      if (!stay) await navigate({ to: "/flows/$flowId", params: { flowId: flow.id }, search: ask ? { ask } : {} });
    },
    onError: (error) => toastError(t("failed_create"), error),
  });
  /** The sample data waits in this browser for the first run of the new flow; without it the flow is made all the same. */
  const fromTemplate = useMutation({
    mutationFn: async ({ id, title, description, sample, definition }: Template) => {
      const file = sample.file && new File([sample.file.content], sample.file.name, { type: "text/plain" });
      const uploaded = file && (await uploadFile(file, {}).catch(() => undefined));
      const translate = await servedWords();
      const labels = Object.fromEntries(
        (definition.nodes ?? []).flatMap(({ id, label }) => (label ? [[id, translate(label)]] : [])),
      );
      const flow = await made.mutateAsync({ body: { template: id, name: title, description, labels }, stay: true });
      keepSample(flow.id, sample, uploaded ? [uploaded.id] : []);
      return flow;
    },
    onSuccess: (flow) => {
      const names = (flow.also_created ?? []).map((one) => one.name).join(", ");
      if (names) toast({ tone: "ok", title: t("also_created", { names }) });
      if (flow.notes?.length) toast({ tone: "bad", title: t("created_notes"), detail: flow.notes.join(" ") });
      return navigate({ to: "/flows/$flowId", params: { flowId: flow.id } });
    },
  });
  return {
    busy: made.isPending || asked.isPending || fromTemplate.isPending,
    refusal,
    empty: () => made.mutate({ body: { name: t("untitled") } }),
    sentence: (ask: string) => asked.mutate(ask),
    template: (template: Template) => fromTemplate.mutate(template),
    spec: (spec: string, name?: string) => made.mutate({ body: { spec, ...(name ? { name } : {}) } }),
  };
}
