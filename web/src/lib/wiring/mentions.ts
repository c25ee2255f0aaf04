import type { FlowNode, Template } from "@/api/types";
import { references } from "./references";

/** The first words of every reference of a node, each once; the server's rule (graph/mentions.py). */
export function rootsOf(node: FlowNode, template: Template | undefined): string[] {
  const literal = new Set((template?.fields ?? []).filter((one) => one.interpolate === false).map((one) => one.name));
  const params = Object.entries(node.params ?? {}).filter(([name]) => !literal.has(name));
  const { input_bindings, input_config, output_config } = node.policy ?? {};
  const calls = [input_config, output_config].map((call) => call && [call.url, call.body, call.headers]);
  const texts = textsIn([params.map(([, value]) => value), input_bindings, calls]);
  return [...new Set(texts.flatMap((text) => references(text).map(({ path }) => path[0] ?? "")))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return value && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}
