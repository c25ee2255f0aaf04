import type { FlowEdge, FlowNode, JsonValue, StepPolicy } from "@/api/types";
import { emptyNode } from "@/lib/draft";
import type { Clip } from "./clip";

const LONGEST = 4_000_000;
const MOST_NODES = 2_000;
const MOST_EDGES = 8_000;
const DEEPEST = 40;
const ID = /^[a-z][a-z0-9_]{0,63}$/;
const TYPE = /^[A-Z][A-Za-z0-9]{0,63}$/;
const PORT = /^[a-z_][a-z0-9_]{0,63}$/;
const FARTHEST = 1_000_000;
const UNSAFE = new Set(["__proto__", "constructor", "prototype"]);

/**
 * A clip from text that anybody may have written: nodes copied here, or a flow's exported JSON. Null when it is
 * something else. What is not a node's own is left out; what is malformed makes it no clip.
 */
export function readClip(text: string): Clip | null {
  if (text.length > LONGEST || !text.trimStart().startsWith("{")) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const found = clipOf(value);
  if (!found || found.nodes.length === 0) return null;
  return found;
}

function clipOf(value: unknown): Clip | null {
  if (!isObject(value)) return null;
  const flow = [value.definition, value.flow].find(isObject) ?? value;
  if (!Array.isArray(flow.nodes) || flow.nodes.length > MOST_NODES) return null;
  const nodes = flow.nodes.map(nodeOf);
  const listed = Array.isArray(flow.edges) ? flow.edges : [];
  if (listed.length > MOST_EDGES) return null;
  const edges = listed.map(edgeOf);
  if (nodes.includes(null) || edges.includes(null)) return null;
  const known = nodes as FlowNode[];
  const ids = new Set(known.map((node) => node.id));
  if (ids.size !== known.length) return null;
  const inside = (edges as FlowEdge[]).filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  return { nodes: known, edges: inside };
}

function nodeOf(value: unknown): FlowNode | null {
  if (!isObject(value) || !matches(value.id, ID) || !matches(value.type, TYPE)) return null;
  const params = value.params ?? {};
  if (!isObject(params) || !isPlain(params, 0) || !Object.keys(params).every((name) => PORT.test(name))) return null;
  if (value.policy !== undefined && !(isObject(value.policy) && isPlain(value.policy, 0))) return null;
  if (value.code !== undefined && value.code !== null && typeof value.code !== "string") return null;
  const empty = emptyNode();
  return {
    ...empty,
    id: value.id,
    type: value.type,
    label: typeof value.label === "string" ? value.label.slice(0, 200) : "",
    position: pointOf(value.position),
    params: params as Record<string, JsonValue>,
    policy: policyOf(value.policy, empty.policy as StepPolicy),
    ...(typeof value.code === "string" ? { code: value.code.slice(0, 1_000_000) } : {}),
  };
}

const POLICY = new Set([
  ...["input_source", "input_type", "input_config", "input_contract", "input_bindings", "output_mode", "output_type"],
  ...["output_config", "output_contract", "output_classification_override", "tool_policy", "tool_allowlist"],
  "tool_approval",
  ...["outside_content", "outside_allowlist", "retry", "timeout_seconds", "total_timeout_seconds", "on_error"],
  ...["default_value", "disabled", "concurrency"],
]);

function policyOf(value: unknown, empty: StepPolicy): StepPolicy {
  if (!isObject(value)) return empty;
  return { ...empty, ...Object.fromEntries(Object.entries(value).filter(([name]) => POLICY.has(name))) } as StepPolicy;
}

function edgeOf(value: unknown): FlowEdge | null {
  if (!isObject(value) || !matches(value.source, ID) || !matches(value.target, ID)) return null;
  if (!matches(value.output, PORT) || !matches(value.input, PORT)) return null;
  return { source: value.source, output: value.output, target: value.target, input: value.input };
}

function pointOf(value: unknown): { x: number; y: number } {
  const side = (one: unknown) =>
    typeof one === "number" && Number.isFinite(one) && Math.abs(one) <= FARTHEST ? Math.round(one) : 0;
  return isObject(value) ? { x: side(value.x), y: side(value.y) } : { x: 0, y: 0 };
}

/** JSON no deeper than the server takes it, without names that mean something to JavaScript. */
function isPlain(value: unknown, depth: number): boolean {
  if (depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  if (!isObject(value)) return true;
  return Object.keys(value).every((key) => !UNSAFE.has(key) && isPlain(value[key], depth + 1));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const matches = (value: unknown, pattern: RegExp): value is string => typeof value === "string" && pattern.test(value);
