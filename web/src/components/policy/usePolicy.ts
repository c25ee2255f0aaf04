import type { FlowNode, StepPolicy } from "@/api/types";
import { issueOf } from "@/components/fields";
import { useDraft, useDraftStore } from "@/lib/draft";

type Policy = Required<
  Pick<StepPolicy, "input_source" | "input_type" | "output_mode" | "output_type" | "tool_policy">
> &
  StepPolicy;

/** A node's policy as it holds: what is not set is as the server takes it. */
export function policyOf(node: FlowNode | undefined): Policy {
  return {
    input_source: "previous_step",
    input_type: "any",
    output_mode: "pass_through",
    output_type: "text",
    tool_policy: "inherit",
    ...node?.policy,
  };
}

interface UsedPolicy {
  policy: Policy;
  node: FlowNode | undefined;
  set: (change: Partial<StepPolicy>) => void;
  /** What the server says is wrong with a member. */
  issue: (member: string) => string | null;
  editable: boolean;
}

export function usePolicy(nodeId: string): UsedPolicy {
  const store = useDraftStore();
  const node = useDraft((state) => state.document.nodes[nodeId]);
  const issues = useDraft((state) => state.issues);
  const editable = useDraft((state) => state.editable);
  return {
    node,
    policy: policyOf(node),
    set: (change) => store.getState().setPolicy(nodeId, change),
    issue: (member) => issueOf(issues, nodeId, member),
    editable,
  };
}
