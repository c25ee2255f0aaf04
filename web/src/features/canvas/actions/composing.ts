import { api, unwrap } from "@/api/client";
import { toast, toastError } from "@/components/ui";
import { toFlow } from "@/lib/draft";
import type { Stage } from "../model/stage";
import { undo } from "./nodes";

const FLOW_STEP = "RunFlow";

/** What can become a flow: selected steps, notes aside. */
export function extractable(stage: Stage): string[] {
  const { selectedNodes, document, templates } = stage.store.getState();
  const steps = selectedNodes.filter((id) => !templates[document.nodes[id]?.type ?? ""]?.annotation);
  return steps.length > 0 ? selectedNodes : [];
}

/** The selected step that runs a flow, where it is the only one. */
export function inlinable(stage: Stage): string | null {
  const [only, more] = stage.store.getState().selectedNodes;
  return only && !more && runsFlow(stage, only) ? only : null;
}

/** Whether a step runs a flow. */
export const runsFlow = (stage: Stage, id: string) => stage.store.getState().document.nodes[id]?.type === FLOW_STEP;

/** Put the steps of the flow that a step runs in its place. One step to undo. */
export async function inlineStep(stage: Stage, id: string): Promise<void> {
  const { flowId, document } = stage.store.getState();
  try {
    const answer = await unwrap(
      api.POST("/api/v1/flows/{flow_id}/inline", {
        params: { path: { flow_id: flowId } },
        body: { node_id: id, definition: toFlow(document), revision: 0 },
      }),
    );
    const state = stage.store.getState();
    state.replaceFlow(answer.definition, { label: stage.t("did_inline") });
    state.select(answer.node_ids);
    toast({ title: stage.t("did_inline"), action: { label: stage.t("undo"), onClick: () => undo(stage) } });
  } catch (error) {
    toastError(stage.t("not_inlined"), error);
  }
}
