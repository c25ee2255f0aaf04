import type { Template } from "@/api/types";

/** A node, or a step of a run; the server calls one that nobody named by its id. */
interface Named {
  id: string;
  type: string;
  label?: string | null;
}

type Templates = Record<string, Pick<Template, "label"> | undefined>;

/** What people call a node, everywhere: its own name, or else what it is. */
export function nodeName(node: Named, templates: Templates): string {
  const own = node.label && node.label !== node.id ? node.label : "";
  return own || kindName(node, templates) || node.id;
}

/** What stands under the name: what it is, or, where that is its name, the id that tells it from others. */
export function underName(node: Named, templates: Templates): string {
  const kind = kindName(node, templates);
  return nodeName(node, templates) === kind ? node.id : kind;
}

const kindName = (node: Named, templates: Templates) => templates[node.type]?.label || node.type;

/** Names of several that stand in one list: those that would read the same are told apart by their ids. */
export function namesOf(nodes: readonly Named[], templates: Templates): Record<string, string> {
  const names = nodes.map((node) => [node.id, nodeName(node, templates)] as const);
  const often = new Map<string, number>();
  for (const [, name] of names) often.set(name, (often.get(name) ?? 0) + 1);
  return Object.fromEntries(names.map(([id, name]) => [id, often.get(name) === 1 ? name : `${name} (${id})`]));
}
