import type { ComponentProps } from "react";
import { useRights } from "@/api/rights";
import { useDraft } from "@/lib/draft";
import { FlowPicker } from "./FlowPicker";

/** One of the published flows that the user may run, for a value of the open flow. */
export function PublishedFlowPicker(props: Omit<ComponentProps<typeof FlowPicker>, "space" | "offer" | "fits">) {
  const { me, may } = useRights();
  const own = useDraft((state) => state.flowId);
  const space = useDraft((state) => state.spaceId);
  return (
    <FlowPicker
      {...props}
      space={space}
      offer={`run ${own} ${me?.user.id ?? ""}`}
      fits={(flow) => flow.published_version !== null && flow.id !== own && may("runs.start", flow.space_id)}
    />
  );
}
