import type { FlowEdge } from "@/api/types";
import type { Used } from "./card";

const NONE: Used = { inputs: [], outputs: [] };

/** The ports that edges use, node by node. A node whose ports are used as before keeps the object it had. */
export function createUsage(): (edges: Record<string, FlowEdge>) => (id: string) => Used {
  let edgesBefore: Record<string, FlowEdge> | null = null;
  let current = new Map<string, Used>();
  const answer = (id: string) => current.get(id) ?? NONE;
  return (edges) => {
    if (edges === edgesBefore) return answer;
    const found = new Map<string, { inputs: Set<string>; outputs: Set<string> }>();
    const of = (id: string) => {
      const one = found.get(id) ?? { inputs: new Set(), outputs: new Set() };
      found.set(id, one);
      return one;
    };
    for (const edge of Object.values(edges)) {
      of(edge.source).outputs.add(edge.output);
      of(edge.target).inputs.add(edge.input);
    }
    const next = new Map<string, Used>();
    for (const [id, { inputs, outputs }] of found) {
      const made: Used = { inputs: [...inputs].sort(), outputs: [...outputs].sort() };
      const before = current.get(id);
      next.set(id, before && same(before, made) ? before : made);
    }
    current = next;
    edgesBefore = edges;
    return answer;
  };
}

const same = (a: Used, b: Used) => a.inputs.join() === b.inputs.join() && a.outputs.join() === b.outputs.join();
