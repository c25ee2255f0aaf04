import { Canvas } from "@/features/canvas";
import { Inspector } from "@/features/inspector";
import { StepCards } from "@/features/steps";
import { useDraft } from "@/lib/draft";

/** The flow as a graph, with the inspector of what is selected. */
export function CanvasView() {
  const selected = useDraft((state) => (state.selectedNodes.length === 1 ? state.selectedNodes[0] : undefined));
  return (
    <div className="flex h-full min-h-0">
      <div className="min-w-0 flex-1">
        <Canvas />
      </div>
      {selected && <Inspector nodeId={selected} />}
    </div>
  );
}

/** The same draft as cards in order. */
export function StepsView() {
  return <StepCards />;
}
