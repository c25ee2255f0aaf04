import { Suspense } from "react";
import { Skeleton } from "@/components/ui";
import { Inspector } from "@/features/inspector";
import { useCalledStep } from "@/lib/calledStep";
import { useDraft } from "@/lib/draft";
import { CalledStepPanel } from "./CalledStepPanel";

/** The settings of what is selected; of a step in the frame of the selected node, those of that step. */
export default function ColumnInspector() {
  const caller = useDraft((state) => state.flowId);
  const selected = useDraft((state) => (state.selectedNodes.length === 1 ? state.selectedNodes[0] : undefined));
  const step = useCalledStep((state) => state.step);
  if (step?.caller !== caller || step.nodeId !== selected) return <Inspector />;
  return (
    <Suspense fallback={<Skeleton className="m-4 h-40" />}>
      <CalledStepPanel key={step.flowId} {...step} />
    </Suspense>
  );
}
