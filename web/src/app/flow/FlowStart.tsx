import type { ComponentProps } from "react";
import { Start } from "@/features/canvas/start/Start";
import { FlowStart as Triggers } from "@/features/triggers/canvas/FlowStart";

/** The triggers of the open flow, at its start on the canvas. */
export default function FlowStart(place: Omit<ComponentProps<typeof Start>, "children">) {
  return (
    <Start {...place}>
      <Triggers />
    </Start>
  );
}
