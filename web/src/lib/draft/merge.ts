import { create } from "mutative";
import type { FlowEdge, FlowNode, FormField } from "@/api/types";
import { type Document, edgeId } from "./document";
import { keyOf, membersOf, type Place, same, sameNode, type Write, write } from "./members";
import { mergedOrder } from "./order";

/** The same place changed on both sides, to different things. */
export interface ConflictItem {
  place: Place;
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** With a node of theirs: the edges that it has there. With an edge: the one of mine. */
  edges: FlowEdge[];
  was?: FlowEdge | undefined;
}

export interface Merge {
  /** What they changed and we did not: to be written into ours. */
  writes: Write[];
  conflicts: ConflictItem[];
}

/** Whether an input takes several edges; one that takes one has a place for it, and two sides can fight for it. */
export type TakesMany = (type: string, input: string) => boolean;

type Sides = readonly [base: Document, ours: Document, theirs: Document];

/** What must be written into `ours` so that it has what `theirs` did to `base` as well. Pure. */
export function merge(base: Document, ours: Document, theirs: Document, takesMany: TakesMany = () => false): Merge {
  const sides = [base, ours, theirs] as const;
  const found: Merge = { writes: [], conflicts: [] };
  mergeNodes(sides, found);
  mergeEdges(sides, found, takesMany);
  mergeForm(sides, found);
  const { widget: _b, ...baseSettings } = base.settings;
  const { widget: _o, ...ourSettings } = ours.settings;
  const { widget: _t, ...theirSettings } = theirs.settings;
  mergeMembers(
    [entries("setting", baseSettings), entries("setting", ourSettings), entries("setting", theirSettings)],
    found,
  );
  mergeMembers(sides.map((one) => entries("widget", one.settings.widget ?? {})) as Members, found);
  mergeMembers(
    sides.map((one) => entries("about", { name: one.name, description: one.description })) as Members,
    found,
  );
  addOrders(sides, found);
  return found;
}

/** A document with these written into it. */
export function written(document: Document, writes: readonly Write[]): Document {
  return create(document, (draft) => {
    for (const one of writes) write(draft, one);
  });
}

/** What a choice of "theirs" writes. */
export function writesOf({ place, theirs, edges, was }: ConflictItem): Write[] {
  const own: Write = { place, value: theirs, was };
  return place.kind === "node" && theirs !== undefined ? [own, ...edges.map(edgeWrite)] : [own];
}

const edgeWrite = (edge: FlowEdge): Write => ({
  place: { kind: "edge", id: edge.target, name: edgeId(edge) },
  value: edge,
});

type Members = [[Place, unknown][], [Place, unknown][], [Place, unknown][]];

const entries = (kind: Place["kind"], values: Record<string, unknown>): [Place, unknown][] =>
  Object.entries(values).map(([name, value]) => [{ kind, id: "", name }, value]);

function mergeMembers(members: Members, found: Merge): void {
  const [base, ours, theirs] = members.map((one) => new Map(one.map(([place, value]) => [keyOf(place), value]))) as [
    Map<string, unknown>,
    Map<string, unknown>,
    Map<string, unknown>,
  ];
  const seen = new Set<string>();
  for (const [place] of [...members[2], ...members[1], ...members[0]]) {
    const key = keyOf(place);
    if (seen.has(key)) continue;
    seen.add(key);
    mergeOne(place, base.get(key), ours.get(key), theirs.get(key), found);
  }
}

function mergeOne(place: Place, base: unknown, mine: unknown, theirs: unknown, found: Merge, was?: FlowEdge): void {
  if (same(mine, theirs) || same(base, theirs)) return;
  if (same(base, mine)) found.writes.push({ place, value: theirs, was });
  else found.conflicts.push({ place, base, mine, theirs, edges: [], was });
}

function mergeNodes(sides: Sides, found: Merge): void {
  const [base, ours, theirs] = sides;
  const ids = new Set([...theirs.order, ...ours.order, ...base.order]);
  for (const id of ids) {
    const [before, mine, other] = [base.nodes[id], ours.nodes[id], theirs.nodes[id]];
    // Most nodes are as they were: that is seen without taking them apart.
    if (same(mine, other) || (before && mine && same(before, other))) continue;
    if (before && mine && other) mergeNode(before, mine, other, found);
    else mergePresence(id, sides, found);
  }
}

function mergeNode(base: FlowNode, mine: FlowNode, theirs: FlowNode, found: Merge): void {
  mergeMembers([membersOf(base), membersOf(mine), membersOf(theirs)], found);
  // Where both moved a node it stays where it was put here: nobody is asked about that.
  if (same(base.position, mine.position) && !same(mine.position, theirs.position)) {
    found.writes.push({ place: { kind: "position", id: mine.id, name: "" }, value: theirs.position });
  }
}

/** A node that is not on all three sides. */
function mergePresence(id: string, sides: Sides, found: Merge): void {
  const [base, ours, theirs] = sides;
  const [before, mine, other] = [base.nodes[id], ours.nodes[id], theirs.nodes[id]];
  const place: Place = { kind: "node", id, name: "" };
  const conflict = () => found.conflicts.push({ place, base: before, mine, theirs: other, edges: edgesAt(theirs, id) });
  if (!before && mine && other) {
    if (!sameNode(other, mine)) conflict();
  } else if (!before && other) found.writes.push({ place, value: other });
  else if (before && mine) {
    if (touched(base, ours, before, mine)) conflict();
    else found.writes.push({ place, value: undefined });
  } else if (before && other && touched(base, theirs, before, other)) conflict();
}

const touched = (before: Document, after: Document, was: FlowNode, is: FlowNode): boolean =>
  !sameNode(was, is) || gained(before, after, is.id);

const edgesAt = (document: Document, id: string): FlowEdge[] =>
  Object.values(document.edges).filter((edge) => edge.source === id || edge.target === id);

const gained = (before: Document, after: Document, id: string): boolean =>
  edgesAt(after, id).some((edge) => !(edgeId(edge) in before.edges));

function mergeEdges(sides: Sides, found: Merge, takesMany: TakesMany): void {
  const [, ours] = sides;
  if (sides.every((one) => one.edges === ours.edges)) return;
  const torn = new Set(found.conflicts.flatMap(({ place }) => (place.kind === "node" ? [place.id] : [])));
  const there = nodesAfter(ours, found.writes);
  const [base, mine, theirs] = slotted(sides, takesMany);
  for (const key of new Set([...theirs.keys(), ...mine.keys(), ...base.keys()])) {
    const [before, own, other] = [base.get(key), mine.get(key), theirs.get(key)];
    const edge = other ?? own ?? before;
    if (!edge || torn.has(edge.source) || torn.has(edge.target)) continue;
    const hangs = other && !(there.has(other.source) && there.has(other.target));
    if (!hangs) mergeOne({ kind: "edge", id: edge.target, name: key }, before, own, other, found, own);
  }
}

function nodesAfter(ours: Document, writes: Write[]): Set<string> {
  const there = new Set(ours.order);
  for (const { place, value } of writes) {
    if (place.kind !== "node") continue;
    if (value) there.add(place.id);
    else there.delete(place.id);
  }
  return there;
}

/** Edges by what they fight for: the input that takes one edge, or themselves. */
function slotted(
  sides: Sides,
  takesMany: TakesMany,
): [Map<string, FlowEdge>, Map<string, FlowEdge>, Map<string, FlowEdge>] {
  const crowded = new Set<string>();
  for (const { edges } of sides) {
    const seen = new Set<string>();
    for (const edge of Object.values(edges)) {
      const slot = slotOf(edge);
      if (seen.has(slot)) crowded.add(slot);
      seen.add(slot);
    }
  }
  const typeOf = (id: string) => sides.map((one) => one.nodes[id]?.type).find(Boolean) ?? "";
  const keyed = ({ edges }: Document) =>
    new Map(
      Object.values(edges).map((edge) => {
        const own = crowded.has(slotOf(edge)) || takesMany(typeOf(edge.target), edge.input);
        return [own ? edgeId(edge) : slotOf(edge), edge];
      }),
    );
  return [keyed(sides[0]), keyed(sides[1]), keyed(sides[2])];
}

const slotOf = (edge: FlowEdge) => `>${edge.target}.${edge.input}`;

function mergeForm(sides: Sides, found: Merge): void {
  if (sides.every((one) => new Set(one.form.map(({ id }) => id)).size === one.form.length)) {
    const fields = (form: FormField[]) =>
      form.map((field): [Place, unknown] => [{ kind: "field", id: "", name: field.id }, field]);
    mergeMembers(sides.map((one) => fields(one.form)) as Members, found);
  } else {
    mergeOne({ kind: "form", id: "", name: "" }, sides[0].form, sides[1].form, sides[2].form, found);
  }
}

function addOrders(sides: Sides, found: Merge): void {
  const orders: Record<string, (document: Document) => string[]> = {
    nodes: (document) => document.order,
    edges: (document) => Object.keys(document.edges),
    form: (document) => document.form.map((field) => field.id),
  };
  const quiet = found.writes.length === 0;
  for (const [name, of] of Object.entries(orders)) {
    const [base, ours, theirs] = [of(sides[0]), of(sides[1]), of(sides[2])];
    if (same(base, theirs) || same(ours, theirs)) continue;
    const value = mergedOrder(base, ours, theirs);
    if (!quiet || !same(value, ours)) found.writes.push({ place: { kind: "order", id: "", name }, value });
  }
}
