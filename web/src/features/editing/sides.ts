import type { FlowEdge, FlowNode, Template } from "@/api/types";
import type { ConflictItem, Document, Place } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import type { EditingText } from "./texts";

/** Conflicts of one node, or of the flow, its form or its settings. */
export interface ConflictGroup {
  id: string;
  title: string;
  items: ConflictItem[];
}

type Known = { document: Document; templates: Record<string, Template> };

export function grouped(items: ConflictItem[], t: EditingText, { document, templates }: Known): ConflictGroup[] {
  const groups = new Map<string, ConflictGroup>();
  for (const item of items) {
    const { kind, id } = item.place;
    const [key, title] = id
      ? [`node ${id}`, nameOfNode(item, document, templates)]
      : kind === "field" || kind === "form"
        ? ["form", t("the_form")]
        : kind === "about"
          ? ["about", t("the_flow")]
          : ["settings", t("the_settings")];
    const group = groups.get(key) ?? { id: key, title, items: [] };
    group.items.push(item);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function nameOfNode({ place, mine, theirs }: ConflictItem, document: Document, templates: Known["templates"]): string {
  const own = place.kind === "node" ? ((mine ?? theirs) as FlowNode | undefined) : undefined;
  const node = document.nodes[place.id] ?? own;
  return node ? nodeName(node, templates) : place.id;
}

const SETTINGS = ["icon", "data_retention_days", "input_classification", "require_tests", "required_trials"] as const;

/** What a place is called where people read it. */
export function titleOf(place: Place, t: EditingText, { document, templates }: Known): string {
  const { kind, id, name } = place;
  if (kind === "param") {
    const fields = templates[document.nodes[id]?.type ?? ""]?.fields;
    return fields?.find((field) => field.name === name)?.label || name;
  }
  if (kind === "about") return t(name === "name" ? "place_name" : "place_description");
  if (kind === "setting") {
    const known = SETTINGS.find((one) => one === name);
    return known ? t(`place_${known}`) : name;
  }
  if (kind === "position" || kind === "order") return "";
  return t(`place_${kind}`, { name: name.replaceAll("_", " ") });
}

/** One side's value in words. */
export function saidOf(
  item: ConflictItem,
  side: "mine" | "theirs",
  t: EditingText,
  { document, templates }: Known,
): string {
  const value = item[side];
  if (item.place.kind === "node") {
    const node = value as FlowNode | undefined;
    return node
      ? t("node_is", { label: [nodeName(node, templates), asText(node.params, t)].filter(Boolean).join("\n") })
      : t("node_gone");
  }
  if (item.place.kind === "edge") {
    const edge = value as FlowEdge | undefined;
    const source = edge && document.nodes[edge.source];
    const from = source ? nodeName(source, templates) : (edge?.source ?? "");
    return edge ? t("edge_from", { from, output: edge.output }) : t("edge_none");
  }
  return asText(value, t) || t("empty");
}

/** A value as lines that people read: names and values, lists with dashes. */
function asText(value: unknown, t: EditingText, indent = ""): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (typeof value !== "object") return String(value);
  const inner = (one: unknown) =>
    typeof one === "object" && one !== null && Object.keys(one).length > 0
      ? `\n${asText(one, t, `${indent}  `)}`
      : ` ${asText(one, t)}`;
  const lines = Array.isArray(value)
    ? value.map((one) => `${indent}-${inner(one)}`)
    : Object.entries(value).map(([name, one]) => `${indent}${name}:${inner(one)}`);
  return lines.join("\n");
}
