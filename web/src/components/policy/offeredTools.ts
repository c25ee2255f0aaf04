import type { FlowNode, Template } from "@/api/types";
import type { Document } from "@/lib/draft";
import { configures, wiringOf } from "@/lib/wiring";

/** The tools that hang on a step, by the server's rules (graph/tool_names.py). */
export interface Offered {
  /** Names that the flow itself tells. */
  names: string[];
  /** MCP servers of which every enabled tool hangs on the step. */
  servers: string[];
}

const GENERIC = new Set(["output", "process", "build_output", "run", "execute", "main", "handler", "build_result"]);

export function offeredTools(document: Document, templates: Record<string, Template>, step: string): Offered {
  const { arriving } = wiringOf(document, templates);
  const names = new Set<string>();
  const servers = new Set<string>();
  const seen = new Set([step]);
  const waiting = [step];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const attached = (arriving[at] ?? []).flatMap((edge) => {
      const node = document.nodes[edge.source];
      const type = templates[node?.type ?? ""]?.outputs?.find((one) => one.name === edge.output)?.type;
      const isTool = type === "Tool" || (type === undefined && edge.output === "tool");
      return node && (isTool || configures(type)) ? [{ node, isTool }] : [];
    });
    const called = toolNames(
      attached.map(({ node }) => node),
      templates,
    );
    for (const { node, isTool } of attached) {
      if (isTool) offer(node, called[node.id] ?? node.id, names, servers);
      if (seen.has(node.id)) continue;
      seen.add(node.id);
      waiting.push(node.id);
    }
  }
  return { names: [...names], servers: [...servers] };
}

function offer(node: FlowNode, name: string, names: Set<string>, servers: Set<string>): void {
  if (node.type === "WorkspaceFiles") {
    const writing = node.params?.read_only === true ? [] : ["write_file", "edit_file"];
    for (const one of ["read_file", "glob_search", "grep_search", ...writing]) names.add(one);
    return;
  }
  if (node.type !== "McpTools") {
    names.add(name);
    return;
  }
  const server = typeof node.params?.server === "string" ? node.params.server.trim() : "";
  const tools = Array.isArray(node.params?.tools) ? node.params.tools : [];
  for (const one of tools) if (typeof one === "string") names.add(`${server}.${one.trim()}`);
  if (server && tools.length === 0) servers.add(server);
}

/** What each attached node is called: its own name where no other is called so, else its id. */
function toolNames(nodes: FlowNode[], templates: Record<string, Template>): Record<string, string> {
  const wanted = nodes.map((node) => [node.id, preferred(node, templates[node.type])] as const);
  const times = (name: string) => wanted.filter(([, one]) => one === name).length;
  return Object.fromEntries(wanted.map(([id, name]) => [id, times(name) === 1 ? name : id]));
}

function preferred(node: FlowNode, template: Template | undefined): string {
  const outputs = node.code ? (template?.outputs ?? []).filter((one) => !configures(one.type)) : [];
  const [first] = outputs;
  if (first && !(outputs.length === 1 && GENERIC.has(first.name))) return first.name;
  return node.type
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}
