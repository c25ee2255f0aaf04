import type { FlowEdge } from "@/api/types";
import { type Document, type DraftState, type DraftStore, edgeId, emptyNode, freeId } from "@/lib/draft";
import { wiringOf } from "@/lib/wiring";
import { linked, swapped } from "./lanes";

const ACROSS = 340;

/** Add a step behind another, or at the beginning; what came after it in a chain then follows the new one. */
export function addStepAfter(store: DraftStore, after: string | null, type: string): string {
  const { document, templates, change } = store.getState();
  const id = freeId(templates[type]?.label || type, document.nodes);
  const position = after === null ? atTheEnd(document) : behind(document, after);
  const node = { ...emptyNode(), id, type, position };
  const nodes = { ...document.nodes, [id]: node };
  const into = after === null ? null : linked(nodes, templates, { source: after }, { target: id });
  const cut = after === null ? null : onlyWayOn(document, templates, after);
  const out = cut && into ? linked(nodes, templates, { source: id }, { target: cut.target, input: cut.input }) : null;
  change({ label: `Add ${templates[type]?.label ?? type}` }, (draft) => {
    draft.nodes[id] = node;
    draft.order.splice(after === null ? draft.order.length : draft.order.indexOf(after) + 1, 0, id);
    if (into) draft.edges[edgeId(into)] = into;
    if (!out || !cut) return;
    delete draft.edges[edgeId(cut)];
    draft.edges[edgeId(out)] = out;
    makeRoom(draft, id);
  });
  return id;
}

function atTheEnd({ nodes }: Document) {
  const places = Object.values(nodes).map((node) => (node.position?.x ?? 0) + ACROSS);
  return { x: Math.max(0, ...places), y: 0 };
}

function behind({ nodes }: Document, id: string) {
  const place = nodes[id]?.position;
  return { x: (place?.x ?? 0) + ACROSS, y: place?.y ?? 0 };
}

/** The one edge that leads on from a step; null where it ends, or where the way splits. */
function onlyWayOn(document: Document, templates: DraftState["templates"], id: string): FlowEdge | null {
  const wiring = wiringOf(document, templates);
  const ways = (wiring.children[id] ?? []).filter((child) => !wiring.implied[child]?.includes(id));
  const [next, ...others] = ways;
  if (next === undefined || others.length > 0) return null;
  const edges = (wiring.arriving[next] ?? []).filter((edge) => edge.source === id);
  return edges.length === 1 ? (edges[0] ?? null) : null;
}

/** What stands where the new step is, or behind it, moves on. */
function makeRoom(draft: Document, id: string): void {
  const from = draft.nodes[id]?.position?.x ?? 0;
  for (const one of Object.values(draft.nodes)) {
    const { position } = one;
    if (one.id !== id && position && (position.x ?? 0) >= from) position.x = (position.x ?? 0) + ACROSS;
  }
}

/** Let a step and the one behind it change places: edges, order and places on the canvas. */
export function swapWithNext(store: DraftStore, upper: string): boolean {
  const { document, templates, change } = store.getState();
  const found = swapped(document, templates, wiringOf(document, templates), upper);
  if (!found) return false;
  const { lower, add, remove } = found;
  change({ label: "Change the order" }, (draft) => {
    for (const key of remove) delete draft.edges[key];
    for (const edge of add) draft.edges[edgeId(edge)] = edge;
    const [first, second] = [draft.order.indexOf(upper), draft.order.indexOf(lower)];
    draft.order[first] = lower;
    draft.order[second] = upper;
    const [a, b] = [draft.nodes[upper], draft.nodes[lower]];
    if (!a?.position || !b?.position) return;
    const place = { ...a.position };
    a.position = { ...b.position };
    b.position = place;
  });
  return true;
}
