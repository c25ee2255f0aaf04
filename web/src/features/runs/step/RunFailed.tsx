import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Crosshair, Sparkles } from "lucide-react";
import { assistantConfigQuery } from "@/api/queries/assistant";
import { Button, Callout } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRequests } from "@/lib/requests";
import { inOrder, type LiveRun } from "../model/live";
import { useNames } from "../model/useNames";
import { useRunTexts } from "../texts";

/** Why a run failed, in which step, and two ways on: to that step's settings, and to the assistant where a model answers. */
export function RunFailed({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const store = useDraftStore();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const editable = useDraft((state) => state.editable);
  const steps = inOrder(live);
  const names = useNames(steps);
  const step = steps.find((one) => one.status === "failed");
  const there = useDraft((state) => step !== undefined && step.id in state.document.nodes);
  const config = useQuery({ ...assistantConfigQuery, enabled: there && editable }).data;
  const name = (step && names[step.id]) ?? "";
  const open = () => {
    if (!step) return;
    store.getState().focusNode(step.id);
    void navigate({ to: "/flows/$flowId", params: { flowId }, search: { ask: undefined } });
  };
  const fix = () => useRequests.getState().requestAsk(t("fix_request", { step: step?.id ?? "", error: live.error }));
  return (
    <Callout tone="bad" title={name ? t("failed_step", { name }) : t("failed")}>
      {live.error}
      {there && (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button size="sm" icon={<Crosshair />} onClick={open}>
            {t("open_node")}
          </Button>
          {editable && config?.configured && config.default_provider !== "offline" && (
            <Button size="sm" icon={<Sparkles />} onClick={fix}>
              {t("fix_with_assistant")}
            </Button>
          )}
        </div>
      )}
    </Callout>
  );
}
