import type { FlowNode } from "@/api/types";

/** A node with nothing set, as the server writes it. */
export function emptyNode(): Omit<FlowNode, "id" | "type"> {
  return {
    label: "",
    position: { x: 0, y: 0 },
    params: {},
    policy: {
      input_source: "previous_step",
      input_type: "any",
      input_bindings: {},
      output_mode: "pass_through",
      output_type: "text",
      tool_policy: "inherit",
      tool_allowlist: [],
      outside_content: "refuse",
      outside_allowlist: [],
      on_error: "fail",
      disabled: "no",
    },
    linked: {},
  };
}
