import { Play, StepForward } from "lucide-react";
import type { StepOut } from "@/api/types";
import { Button, CopyButton } from "@/components/ui";
import { asText } from "@/components/values/shape";
import { useDraft } from "@/lib/draft";
import { useRequests } from "@/lib/requests";
import { useRunTexts } from "../texts";
import { Pinning } from "./Pinning";

interface StepActionsProps {
  step: StepOut | undefined;
  settled: boolean;
}

/** What can be done from a step: run it alone, run from it on, pin its output as it is or changed, copy. */
export function StepActions({ step, settled }: StepActionsProps) {
  const t = useRunTexts();
  const id = step?.step_id ?? "";
  const there = useDraft((state) => id in state.document.nodes);
  const editable = useDraft((state) => state.editable);
  if (!step) return <div className="h-7" />;
  const main = (step.output?.outputs as Record<string, unknown> | undefined)?.[String(step.output?.main ?? "")];
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
          <Pinning step={step} settled={settled} />
        </>
      )}
      {main !== undefined && <CopyButton text={asText(main)} label={t("copy_output")} />}
    </div>
  );
}
