import { Suspense } from "react";
import { Canvas } from "@/features/canvas";
import { part } from "@/lib/part";

const FlowStart = part(() => import("./FlowStart"));
const StepCards = part(async () => ({ default: (await import("@/features/steps")).StepCards }));

/** The draft as a graph, with what starts it. */
export function CanvasView() {
  return <Canvas Before={FlowStart} />;
}

/** The same draft as cards in order. */
export function StepsView() {
  return (
    <Suspense>
      <StepCards />
    </Suspense>
  );
}
