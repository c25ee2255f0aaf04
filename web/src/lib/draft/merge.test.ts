import { describe, expect, it } from "vitest";
import type { FlowEdge, FlowNode } from "@/api/types";
import { type Document, edgeId, toDocument, toFlow } from "./document";
import { emptyNode } from "./emptyNode";
import { same } from "./members";
import { merge, writesOf, written } from "./merge";
import { mergedOrder } from "./order";

const node = (id: string, more: Partial<FlowNode> = {}): FlowNode => ({ ...emptyNode(), id, type: "Prompt", ...more });
const edge = (source: string, target: string, input = "in"): FlowEdge => ({ source, output: "out", target, input });
const flow = (nodes: FlowNode[], edges: FlowEdge[] = [], more: Partial<Document> = {}): Document => ({
  ...toDocument({ name: "F", nodes, edges }),
  ...more,
});

/** Numbers that come the same again: mulberry32. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

const BASE = flow(
  ["a", "b", "c", "d", "e"].map((id) => node(id, { params: { text: id, n: 1 } })),
  [edge("a", "b"), edge("b", "c"), edge("c", "d")],
  { form: [{ id: "q", label: "Q" }] as Document["form"] },
);

type Edit = (next: Document, id: string, who: string, roll: (sides: number) => number) => void;

const EDITS: Edit[] = [
  (next, id, who, roll) => change(next, id, (one) => ({ ...one, params: { ...one.params, text: `${who}${roll(3)}` } })),
  (next, id, _who, roll) => change(next, id, (one) => ({ ...one, position: { x: roll(9), y: roll(9) } })),
  (next, id, who, roll) => change(next, id, (one) => ({ ...one, label: `${who}${roll(3)}` })),
  (next, _id, who, roll) => {
    const fresh = node(`${who}${roll(99)}`);
    next.nodes[fresh.id] = fresh;
    if (!next.order.includes(fresh.id)) next.order.splice(roll(next.order.length), 0, fresh.id);
  },
  (next, id) => {
    delete next.nodes[id];
    next.order = next.order.filter((one) => one !== id);
    drop(next, (one) => one.source === id || one.target === id);
  },
  (next, id, _who, roll) => {
    const made = edge(next.order[roll(next.order.length)] ?? id, id);
    drop(next, (one) => one.target === id);
    next.edges[edgeId(made)] = made;
  },
  (next, _id, who, roll) => {
    const fresh = { id: `${who}${roll(9)}`, label: who };
    next.form = [...next.form.filter((field) => field.id !== fresh.id), fresh];
  },
  (next, _id, who, roll) => {
    next.name = `${who}${roll(3)}`;
  },
];

function change(next: Document, id: string, into: (one: FlowNode) => FlowNode): void {
  const found = next.nodes[id];
  if (found) next.nodes[id] = into(found);
}

function drop(next: Document, gone: (edge: FlowEdge) => boolean): void {
  next.edges = Object.fromEntries(Object.entries(next.edges).filter(([, one]) => !gone(one)));
}

/** A document that somebody made of another with a few changes. */
function edited(start: Document, seed: number, who: string): Document {
  const roll = dice(seed);
  const next = structuredClone(start);
  for (let count = 1 + roll(4); count > 0 && next.order.length > 1; count -= 1) {
    const id = next.order[roll(next.order.length)] ?? "a";
    EDITS[roll(EDITS.length)]?.(next, id, who, roll);
  }
  return next;
}

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const each = (check: (seed: number) => void) => seeds.forEach(check);
const content = (document: Document) => ({
  ...document,
  order: [...document.order].sort(),
  edges: Object.keys(document.edges).sort(),
  form: [...document.form].sort((one, other) => one.id.localeCompare(other.id)),
});
const withoutPlaces = (document: Document) => ({
  ...content(document),
  nodes: Object.fromEntries(Object.entries(document.nodes).map(([id, one]) => [id, { ...one, position: null }])),
});

describe("merging two sides of a flow", () => {
  it("writes nothing where they changed nothing, and all of theirs where we did", () =>
    each((seed) => {
      const theirs = edited(BASE, seed, "t");
      expect(merge(BASE, theirs, BASE)).toEqual({ writes: [], conflicts: [] });
      const found = merge(BASE, BASE, theirs);
      expect(found.conflicts).toEqual([]);
      expect(toFlow(written(BASE, found.writes))).toEqual(toFlow(theirs));
    }));

  it("comes to the same from both sides, loses nothing and leaves no loose edge", () =>
    each((seed) => {
      const [ours, theirs] = [edited(BASE, seed, "o"), edited(BASE, seed + 1000, "t")];
      const here = merge(BASE, ours, theirs);
      const there = merge(BASE, theirs, ours);
      expect(here.conflicts.map(({ place }) => place).sort()).toHaveLength(there.conflicts.length);
      const [one, other] = [written(ours, here.writes), written(theirs, there.writes)];
      for (const document of [one, other]) {
        expect([...document.order].sort()).toEqual(Object.keys(document.nodes).sort());
        for (const { source, target } of Object.values(document.edges)) {
          expect(document.nodes[source] && document.nodes[target]).toBeTruthy();
        }
      }
      if (here.conflicts.length === 0) expect(withoutPlaces(one)).toEqual(withoutPlaces(other));
      // Merged again, with theirs as the base, nothing of theirs is missing.
      const again = merge(BASE, one, theirs);
      expect(again.writes.filter(({ place }) => place.kind !== "order")).toEqual([]);
      expect(again.conflicts).toHaveLength(here.conflicts.length);
    }));

  it("finds fights and quiet merges among these seeds, so that the laws above are tried on both", () => {
    const fights = seeds.filter(
      (seed) => merge(BASE, edited(BASE, seed, "o"), edited(BASE, seed + 1000, "t")).conflicts.length,
    );
    expect(fights.length).toBeGreaterThan(50);
    expect(fights.length).toBeLessThan(350);
  });

  it("has all of theirs once their side is chosen everywhere", () =>
    each((seed) => {
      const [ours, theirs] = [edited(BASE, seed, "o"), edited(BASE, seed + 2000, "t")];
      const found = merge(BASE, ours, theirs);
      const chosen = written(ours, [...found.writes, ...found.conflicts.flatMap(writesOf)]);
      expect(merge(BASE, chosen, theirs).conflicts).toEqual([]);
    }));

  it("asks where both changed the same value, and not where they changed two", () => {
    const ours = flow([node("a", { params: { text: "mine", n: 1 } })]);
    const base = flow([node("a", { params: { text: "old", n: 1 } })]);
    const theirs = flow([node("a", { params: { text: "theirs", n: 2 } })]);
    const found = merge(base, ours, theirs);
    expect(found.writes).toEqual([{ place: { kind: "param", id: "a", name: "n" }, value: 2, was: undefined }]);
    expect(found.conflicts).toMatchObject([{ base: "old", mine: "mine", theirs: "theirs" }]);
  });

  it("asks before a node goes that was changed or connected here", () => {
    const base = flow([node("a"), node("b")]);
    const theirs = flow([node("a")]);
    const connected = flow([node("a"), node("b")], [edge("a", "b")]);
    expect(merge(base, connected, theirs).conflicts).toHaveLength(1);
    expect(merge(base, flow([node("a"), node("b", { label: "B" })]), theirs).conflicts).toHaveLength(1);
    const moved = flow([node("a"), node("b", { position: { x: 9, y: 9 } })]);
    expect(merge(base, moved, theirs).writes).toMatchObject([{ place: { kind: "node", id: "b" } }, {}]);
  });

  it("asks which edge an input that takes one should have, and keeps both where it takes many", () => {
    const base = flow([node("a"), node("b"), node("c")]);
    const [ours, theirs] = [
      flow([node("a"), node("b"), node("c")], [edge("a", "c")]),
      flow([node("a"), node("b"), node("c")], [edge("b", "c")]),
    ];
    const [fight] = merge(base, ours, theirs).conflicts;
    expect(fight?.place.kind).toBe("edge");
    expect(Object.keys(written(ours, fight ? writesOf(fight) : []).edges)).toEqual(["b.out>c.in"]);
    const both = merge(base, ours, theirs, () => true);
    expect(both.conflicts).toEqual([]);
    expect(Object.keys(written(ours, both.writes).edges)).toHaveLength(2);
  });

  it("gives back a node that was removed here with the edges it has there", () => {
    const base = flow([node("a"), node("b")], [edge("a", "b")]);
    const ours = flow([node("a")]);
    const theirs = flow([node("a"), node("b", { label: "B" })], [edge("a", "b")]);
    const [item] = merge(base, ours, theirs).conflicts;
    const back = written(ours, item ? writesOf(item) : []);
    expect(Object.keys(back.edges)).toEqual(["a.out>b.in"]);
    expect(back.nodes.b?.label).toBe("B");
  });

  it("is quick for a thousand nodes", () => {
    const nodes = Array.from({ length: 1000 }, (_, index) => node(`n${index}`, { params: { text: "x".repeat(200) } }));
    const edges = Array.from({ length: 999 }, (_, index) => edge(`n${index}`, `n${index + 1}`));
    const [base, theirs] = [flow(nodes, edges), structuredClone(flow(nodes, edges))];
    const first = theirs.nodes.n0;
    if (first) first.label = "First";
    const took = (work: () => void) => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    expect(merge(base, base, theirs).writes).toHaveLength(1);
    const copying = Math.min(...[1, 2, 3].map(() => took(() => structuredClone(theirs))));
    const merging = Math.min(...[1, 2, 3].map(() => took(() => merge(base, base, theirs))));
    // A machine that does other things too is slow in both.
    expect(merging).toBeLessThan(copying * 20);
  });
});

describe("values", () => {
  it("are the same where one says null and the other nothing", () => {
    expect(same({ a: 1, b: null }, { a: 1 })).toBe(true);
    expect(same({ a: 1, b: 0 }, { a: 1 })).toBe(false);
    expect(same([1, 2], [1])).toBe(false);
    expect(same({ 0: 1 }, [1])).toBe(false);
  });
});

describe("orders", () => {
  it("keep what both sides did", () => {
    expect(mergedOrder(["a", "b"], ["a", "x", "b"], ["a", "b", "y"])).toEqual(["a", "x", "b", "y"]);
    expect(mergedOrder(["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c", "d"])).toEqual(["c", "d", "b", "a"]);
    expect(mergedOrder(["a", "b", "c"], ["a", "c"], ["c", "b", "a"])).toEqual(["c", "a"]);
  });
});
