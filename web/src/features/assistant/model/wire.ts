import type { Flow, FlowEdge, FlowNode, JsonValue } from "@/api/types";

/** What a change of the flow carries as its proof. */
interface Proof {
  diff?: string[];
  validation?: Validation;
}

export interface Validation {
  runnable: boolean;
  issues: { message: string; remedy?: string; node?: string; field?: string; severity?: string }[];
}

export interface PatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: JsonValue;
}

/** A change of the flow that the server tells while it works. */
export type FlowUpdate = Proof &
  (
    | { action: "set_flow"; flow: Flow; replaces?: string[]; auto_apply?: boolean; undo?: boolean }
    | { action: "add_component"; node: FlowNode }
    | { action: "remove_component"; component_id: string }
    | { action: "connect" | "disconnect"; edge: FlowEdge }
    | {
        action: "configure";
        component_id: string;
        params: Record<string, JsonValue>;
        patch?: PatchOperation[];
        /** The node from then on, where its title or its policy changed too. */
        node?: FlowNode;
      }
    | { action: "rename_component"; component_id: string; new_id: string }
    | { action: "select_output"; component_id: string; output_name: string }
    | { action: "set_connection_mode"; component_id: string; field: string; enabled?: boolean }
    | {
        action: "edit_field";
        id: string;
        component_id: string;
        component_type: string;
        field: string;
        old_value: JsonValue;
        new_value: JsonValue;
        description: string;
        patch: PatchOperation[];
      }
    | { action: "propose_plan"; markdown: string }
    | {
        action: "propose_component";
        id: string;
        class_name: string;
        description: string;
        code: string;
        reach: Reach;
        note: string;
        attempts: number;
        expires_at: string;
      }
  );

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

/** Everything that a component may reach. */
export interface Reach {
  hosts: string[];
  secrets: string[];
  files: boolean;
  imports: string[];
}

/** A change as `complete` reports it, read back from the flow. */
interface Change {
  action: string;
  component_id?: string;
  diff?: string[];
  validation?: Validation;
  run_id?: string;
  undone?: boolean;
}

/** The data of `complete`, as far as the page reads it. */
export interface Completed {
  result: string;
  validated?: boolean;
  declined?: boolean;
  model?: string;
  flow?: Flow | null;
  flow_id?: string | null;
  revision?: number | null;
  saved?: boolean;
  kept_version?: number | null;
  issues?: { message: string; [more: string]: unknown }[];
  changes?: string[];
  edits?: Change[];
  proposal?: boolean;
  plan?: string;
  done?: string[];
  note?: string;
  stop_note?: string;
  outside?: { sources: { kind: string; name: string }[]; refused: RefusedCall[] };
  runs?: { run_id: string; status: string; error?: string; duration_seconds?: number; total_tokens?: number }[];
  verification?: { verified: boolean; attempts: number; caveat: string };
  continuation_expected?: boolean;
  usage?: Usage;
  duration_seconds?: number;
  cost?: { usd: number };
  class_name?: string;
  component_code?: string;
  validation_attempts?: number;
  reach?: Reach;
  component_proposal?: string;
  findings?: Finding[];
}

/** A tool call that was not made after content from outside was read. */
export interface RefusedCall {
  tool: string;
  detail: string;
}

export interface Finding {
  message: string;
  remedy?: string;
  line?: number | null;
}

export interface Budget {
  max_tokens: number;
  max_tool_calls: number;
  max_seconds: number;
  max_cost_usd?: number;
}

export type TurnEvent =
  | {
      event: "progress";
      step: string;
      attempt: number;
      max_attempts: number;
      message: string;
      turn_id?: string;
      session_id?: string;
      model?: string;
      budget?: Budget;
      class_name?: string;
      component_code?: string;
      error?: string;
    }
  | { event: "token"; chunk: string }
  | (FlowUpdate & { event: "flow_update" })
  | { event: "flow_preview"; name: string; node_count: number; edge_count: number }
  | { event: "file_written"; action: string; path: string; size: number; content?: string }
  | { event: "run_update"; run_id: string; kind: string; data: Record<string, JsonValue> }
  | { event: "complete"; data: Completed }
  | { event: "error"; message: string; code: string; remedy: string }
  | { event: "cancelled"; message: string };

const NAMES = new Set([
  "progress",
  "token",
  "flow_update",
  "flow_preview",
  "file_written",
  "run_update",
  "complete",
  "error",
  "cancelled",
]);

/** An event of the stream; null for one that this page does not know. */
export function readEvent(data: unknown): TurnEvent | null {
  if (typeof data !== "object" || data === null || !("event" in data)) return null;
  return NAMES.has(String(data.event)) ? (data as TurnEvent) : null;
}
