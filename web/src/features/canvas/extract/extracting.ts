import { api, unwrap } from "@/api/client";
import type { Flow } from "@/api/types";
import { toast } from "@/components/ui";
import { toFlow } from "@/lib/draft";
import { undo } from "../actions/nodes";
import type { Stage } from "../model/stage";
import type { Repeat } from "../model/view";
import type { useExtractTexts } from "./texts";

type Texts = ReturnType<typeof useExtractTexts>;

export interface Extract {
  name: string;
  publish: boolean;
  repeat: Repeat;
  until: string;
  most: number;
}

/** Move steps into a new flow, one step that runs it in their place. One step to undo; the new flow stays. */
export async function extractSteps(stage: Stage, t: Texts, ids: string[], extract: Extract): Promise<string> {
  const { name } = extract;
  const { flowId, document } = stage.store.getState();
  const answer = await unwrap(
    api.POST("/api/v1/flows/{flow_id}/extract", {
      params: { path: { flow_id: flowId } },
      body: { node_ids: ids, ...extract, definition: toFlow(document), revision: 0 },
    }),
  );
  const state = stage.store.getState();
  const repeat = repeatedInput(answer.definition, answer.node_id);
  const label = repeat ? t(repeat.each ? "did_repeat" : "did_loop", { name }) : t("did_extract", { name });
  const details = [
    repeat?.each ? t("repeats_each", { source: repeat.source }) : "",
    answer.left.length > 0 ? t("extract_left", { count: answer.left.length }) : "",
  ].filter(Boolean);
  state.replaceFlow(answer.definition, { label });
  state.select([answer.node_id]);
  toast({
    title: label,
    ...(details.length > 0 ? { detail: details.join(" ") } : {}),
    action: { label: stage.t("undo"), onClick: () => undo(stage) },
  });
  return answer.extracted.id;
}

/** What the step that took the place of others repeats, read from the flow: where its list comes from. */
function repeatedInput(flow: Flow, id: string): { each: boolean; source: string } | null {
  const step = flow.nodes?.find((node) => node.id === id);
  if (step?.type !== "ForEach" && step?.type !== "Loop") return null;
  const each = step.type === "ForEach";
  const port = each ? "items" : "value";
  const edge = flow.edges?.find((one) => one.target === id && one.input === port);
  const before = flow.nodes?.find((node) => node.id === edge?.source);
  const named = String(step.params?.[port] ?? "").replace(/[{}]/g, "");
  return { each, source: before ? before.label || before.id : named };
}
