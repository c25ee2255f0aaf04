import { Pin, PinOff, Play, StepForward } from "lucide-react";
import type { StepOut } from "@/api/types";
import { Button, CopyButton, toast } from "@/components/ui";
import { asText } from "@/components/values/shape";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRequests } from "@/lib/requests";
import { pinnable } from "../model/parts";
import { useRunTexts } from "../texts";

interface StepActionsProps {
  runId: string;
  step: StepOut | undefined;
  settled: boolean;
}

/** What can be done from a step: pin what it gave, run it alone, run from it on, copy. */
export function StepActions({ step, settled }: StepActionsProps) {
  const t = useRunTexts();
  const store = useDraftStore();
  const id = step?.step_id ?? "";
  const there = useDraft((state) => id in state.document.nodes);
  const pinned = useDraft((state) => id in state.pinned);
  const editable = useDraft((state) => state.editable);
  if (!step) return <div className="h-7" />;
  const outputs = pinnable(step.output?.outputs);
  const main = (step.output?.outputs as Record<string, unknown> | undefined)?.[String(step.output?.main ?? "")];
  const pin = () => {
    const before = store.getState().pinned[id] ?? null;
    store.getState().pin(id, pinned ? null : outputs);
    toast({
      title: t(pinned ? "unpinned" : "pinned_now"),
      action: { label: t("undo"), onClick: () => store.getState().pin(id, before) },
    });
  };
  const ask = useRequests.getState().requestRun;
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {there && editable && (
        <>
          <Button size="sm" icon={<Play />} onClick={() => ask("node", id)}>
            {t("run_step")}
          </Button>
          <Button size="sm" icon={<StepForward />} onClick={() => ask("from", id)}>
            {t("run_from")}
          </Button>
          {(pinned || (settled && step.output)) && (
            <Button
              size="sm"
              icon={pinned ? <PinOff /> : <Pin />}
              title={t(pinned || outputs ? "pin_help" : "pin_too_large")}
              disabled={!pinned && !outputs}
              onClick={pin}
            >
              {t(pinned ? "unpin" : "pin")}
            </Button>
          )}
        </>
      )}
      {main !== undefined && <CopyButton text={asText(main)} label={t("copy_output")} />}
    </div>
  );
}
