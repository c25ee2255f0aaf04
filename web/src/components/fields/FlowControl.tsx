import { flowNamed } from "@/api/queries/calledFlow";
import { PublishedFlowPicker } from "@/components/flow-picker";
import type { ControlProps } from "./types";

/** The flow that a step runs, by its name: one of the published flows that the user may run. */
export function FlowControl({ value, onChange, label, nodeId: _, field: __, ...ids }: ControlProps) {
  return (
    <PublishedFlowPicker
      {...ids}
      aria-label={ids.id ? undefined : label}
      value={flowNamed(value)}
      onChange={onChange}
    />
  );
}
