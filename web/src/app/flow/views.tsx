import { lazy, Suspense } from "react";

export { Canvas as CanvasView } from "@/features/canvas";

const StepCards = lazy(async () => ({ default: (await import("@/features/steps")).StepCards }));

/** The same draft as cards in order. */
export function StepsView() {
  return (
    <Suspense>
      <StepCards />
    </Suspense>
  );
}
