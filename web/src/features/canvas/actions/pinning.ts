import { api, unwrap } from "@/api/client";
import { toast, toastError } from "@/components/ui";
import { pinnable } from "@/lib/pins";
import type { Stage } from "../model/stage";

/** Let what a node gave in the run that is shown stand in for running it. */
export async function pinShown(stage: Stage, id: string): Promise<void> {
  const run = stage.store.getState().shownRun;
  if (!run) return;
  try {
    const step = await unwrap(
      api.GET("/api/v1/flow-runs/{run_id}/steps/{step_id}", { params: { path: { run_id: run.id, step_id: id } } }),
    );
    const outputs = pinnable(step.output?.outputs);
    if (!outputs) {
      toast({ title: stage.t("not_pinned"), detail: stage.t("not_pinned_more"), tone: "bad" });
      return;
    }
    stage.store.getState().pin(id, outputs);
    const undo = () => stage.store.getState().pin(id, null);
    toast({
      title: stage.t("pinned"),
      detail: stage.t("pinned_more"),
      action: { label: stage.t("undo"), onClick: undo },
    });
  } catch (error) {
    toastError(stage.t("not_pinned"), error);
  }
}
