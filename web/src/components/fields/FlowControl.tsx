import { flowNamed } from "@/api/queries/calledFlow";
import { useRights } from "@/api/rights";
import { FlowPicker } from "@/components/flow-picker";
import { useDraft } from "@/lib/draft";
import type { ControlProps } from "./types";

/** The flow that a step runs, by its name: one of the published flows that the user may run. */
export function FlowControl({ value, onChange, label, nodeId: _, field: __, ...ids }: ControlProps) {
  const { may } = useRights();
  const own = useDraft((state) => state.flowId);
  const space = useDraft((state) => state.spaceId);
  return (
    <FlowPicker
      {...ids}
      aria-label={ids.id ? undefined : label}
      value={flowNamed(value)}
      space={space}
      offer={`run ${own}`}
      fits={(flow) => flow.published_version !== null && flow.id !== own && may("runs.start", flow.space_id)}
      onChange={onChange}
    />
  );
}
