import type { FlowEdge, FlowNode, FormField, JsonValue, StepPolicy } from "@/api/types";
import { type Document, edgeId } from "./document";
import { emptyNode } from "./emptyNode";

/** A part of a document that one person can change while another changes the one beside it. */
type PlaceKind =
  | "node"
  | "label"
  | "type"
  | "position"
  | "code"
  | "param"
  | "policy"
  | "edge"
  | "field"
  | "form"
  | "setting"
  | "widget"
  | "about"
  | "order";

export interface Place {
  kind: PlaceKind;
  /** The node, or empty. */
  id: string;
  /** The parameter, policy, form field, setting; of an edge its key; of an order what is ordered. */
  name: string;
}

/** What is to stand at a place; `undefined` takes it away. `was` is the edge that goes. */
export interface Write {
  place: Place;
  value: unknown;
  was?: FlowEdge | undefined;
}

export const keyOf = ({ kind, id, name }: Place): string => `${kind} ${id} ${name}`;

/** Whether two values mean the same: a member that is not there is one that is null, as the server writes it. */
export function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other) || (one == null && other == null)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((part, index) => same(part, other[index]))
    );
  }
  const left = one as Record<string, unknown>;
  const right = other as Record<string, unknown>;
  return (
    Object.keys(left).every((name) => same(left[name], right[name])) &&
    Object.keys(right).every((name) => name in left || right[name] == null)
  );
}

const NO_POLICY = emptyNode().policy as Record<string, unknown>;

/** A node's members besides its place on the canvas. */
export function membersOf(node: FlowNode): [Place, unknown][] {
  const { id } = node;
  const policy: Record<string, unknown> = { ...NO_POLICY, ...node.policy };
  return [
    [{ kind: "type", id, name: "" }, node.type],
    [{ kind: "label", id, name: "" }, node.label ?? ""],
    [{ kind: "code", id, name: "" }, node.code ?? null],
    ...Object.entries(node.params ?? {}).map(([name, value]): [Place, unknown] => [{ kind: "param", id, name }, value]),
    ...Object.entries(policy).map(([name, value]): [Place, unknown] => [{ kind: "policy", id, name }, value]),
  ];
}

/** Whether two nodes are the same wherever they stand. */
export function sameNode(one: FlowNode, other: FlowNode): boolean {
  if (one === other) return true;
  const left = new Map(membersOf(one).map(([place, value]) => [keyOf(place), value]));
  const right = membersOf(other);
  const shared = new Set(right.map(([place]) => keyOf(place)));
  return (
    right.every(([place, value]) => same(value, left.get(keyOf(place)))) &&
    [...left].every(([key, value]) => shared.has(key) || value == null)
  );
}

/** Put a value in its place. The document is a draft that records what changes. */
export function write(draft: Document, { place, value, was }: Write): void {
  const { kind, id, name } = place;
  if (kind === "node") writeNode(draft, id, value as FlowNode | undefined);
  else if (kind === "edge") writeEdge(draft, value as FlowEdge | undefined, was);
  else if (kind === "field") writeField(draft, name, value as FormField | undefined);
  else if (kind === "order") writeOrder(draft, name, value as string[]);
  else if (kind === "form") draft.form = (value ?? []) as FormField[];
  else if (kind === "about") draft[name as "name" | "description"] = String(value ?? "");
  else if (kind === "setting") put(draft.settings as Record<string, unknown>, name, value);
  else if (kind === "widget") {
    draft.settings.widget ??= {};
    put(draft.settings.widget, name, value);
  } else writeMember(draft, place, value);
}

function writeMember(draft: Document, { kind, id, name }: Place, value: unknown): void {
  const node = draft.nodes[id];
  if (!node) return;
  if (kind === "param") {
    node.params ??= {};
    put(node.params, name, value);
  } else if (kind === "policy") {
    node.policy ??= { ...emptyNode().policy } as StepPolicy;
    put(node.policy as Record<string, unknown>, name, value);
  } else if (kind === "code") node.code = (value ?? null) as string | null;
  else if (kind === "position") node.position = (value ?? { x: 0, y: 0 }) as { x: number; y: number };
  else if (kind === "label" || kind === "type") node[kind] = String(value ?? "");
}

function put(where: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete where[name];
  else where[name] = value as JsonValue;
}

function writeNode(draft: Document, id: string, node: FlowNode | undefined): void {
  if (node) {
    if (!(id in draft.nodes)) draft.order.push(id);
    draft.nodes[id] = node;
    return;
  }
  delete draft.nodes[id];
  draft.order = draft.order.filter((other) => other !== id);
  for (const [key, edge] of Object.entries(draft.edges)) {
    if (edge.source === id || edge.target === id) delete draft.edges[key];
  }
}

function writeEdge(draft: Document, edge: FlowEdge | undefined, was: FlowEdge | undefined): void {
  if (was) delete draft.edges[edgeId(was)];
  if (edge && draft.nodes[edge.source] && draft.nodes[edge.target]) draft.edges[edgeId(edge)] = edge;
}

function writeField(draft: Document, id: string, field: FormField | undefined): void {
  const at = draft.form.findIndex((one) => one.id === id);
  if (field && at >= 0) draft.form[at] = field;
  else if (field) draft.form.push(field);
  else if (at >= 0) draft.form.splice(at, 1);
}

function writeOrder(draft: Document, of: string, wanted: string[]): void {
  const now =
    of === "nodes" ? [...draft.order] : of === "form" ? draft.form.map(({ id }) => id) : Object.keys(draft.edges);
  const there = new Set(now);
  const named = new Set(wanted);
  // What the order does not know stays, at the end: an order takes nothing away.
  const ids = [...wanted.filter((id) => there.has(id)), ...now.filter((id) => !named.has(id))];
  if (same(ids, now)) return;
  if (of === "nodes") draft.order = ids;
  else if (of === "form") draft.form = ids.flatMap((id) => draft.form.find((field) => field.id === id) ?? []);
  else draft.edges = Object.fromEntries(ids.flatMap((id) => (draft.edges[id] ? [[id, draft.edges[id]]] : [])));
}
