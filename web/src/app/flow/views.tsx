import { Suspense } from "react";
import { part } from "@/lib/part";

export { Canvas as CanvasView } from "@/features/canvas";

const StepCards = part(async () => ({ default: (await import("@/features/steps")).StepCards }));

/** The same draft as cards in order. */
export function StepsView() {
  return (
    <Suspense>
      <StepCards />
    </Suspense>
  );
}
