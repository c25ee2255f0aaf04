import { lazy, Suspense } from "react";
import { Canvas } from "@/features/canvas";
import { Inspector } from "@/features/inspector";

const StepCards = lazy(async () => ({ default: (await import("@/features/steps")).StepCards }));

/** The flow as a graph, with the inspector of what is selected, or of the flow itself. */
export function CanvasView() {
  return (
    <div className="relative flex h-full min-h-0">
      <div className="min-w-0 flex-1">
        <Canvas />
      </div>
      <Inspector />
    </div>
  );
}

/** The same draft as cards in order. */
export function StepsView() {
  return (
    <Suspense>
      <StepCards />
    </Suspense>
  );
}
