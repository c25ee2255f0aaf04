import type { Wiring } from "./wiring";

/**
 * The wiring with the order that references imply, by the rules of the server's graph/wiring.py.
 *
 * A reference adds no link where edges bring its step before the reader already, and none that would close a circle.
 */
export function withImplied(wiring: Wiring, named: [string, string][]): Wiring {
  if (named.length === 0 || wiring.order.length < wiring.steps.length) return wiring;
  const ancestors = ancestorsOf(wiring);
  const implied: Record<string, string[]> = {};
  for (const [source, reader] of named) {
    if (ancestors.get(reader)?.has(source) || ancestors.get(source)?.has(reader)) continue;
    implied[reader] = [...(implied[reader] ?? []), source];
    link(ancestors, source, reader);
  }
  return Object.keys(implied).length > 0 ? linked(wiring, implied) : wiring;
}

/** Everything before the source is from now on before the reader too, and before all that follows the reader. */
function link(ancestors: Map<string, Set<string>>, source: string, reader: string): void {
  const above = [source, ...(ancestors.get(source) ?? [])];
  for (const [step, known] of ancestors) {
    if (step === reader || known.has(reader)) for (const one of above) known.add(one);
  }
}

function ancestorsOf({ order, parents }: Wiring): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const step of order) {
    const above = new Set<string>();
    for (const parent of parents[step] ?? []) {
      above.add(parent);
      for (const one of found.get(parent) ?? []) above.add(one);
    }
    found.set(step, above);
  }
  return found;
}

function linked(wiring: Wiring, implied: Record<string, string[]>): Wiring {
  const { steps } = wiring;
  const sorted = (ids: string[]) => steps.filter((one) => ids.includes(one));
  const parents = { ...wiring.parents };
  const children = { ...wiring.children };
  for (const [reader, sources] of Object.entries(implied)) {
    parents[reader] = sorted([...(parents[reader] ?? []), ...sources]);
    for (const source of sources) children[source] = sorted([...(children[source] ?? []), reader]);
  }
  return { ...wiring, parents, children, implied, order: running(steps, parents, children) };
}

/** Parents before children, ties in the order given; what is on or behind a cycle is omitted. */
export function running(
  steps: string[],
  parents: Record<string, string[]>,
  children: Record<string, string[]>,
): string[] {
  const waiting = Object.fromEntries(steps.map((id) => [id, parents[id]?.length ?? 0]));
  const place = new Map(steps.map((id, index) => [id, index]));
  const ready = steps.filter((id) => waiting[id] === 0);
  const found: string[] = [];
  while (ready.length > 0) {
    ready.sort((one, other) => (place.get(one) ?? 0) - (place.get(other) ?? 0));
    const id = ready.shift() as string;
    found.push(id);
    for (const child of children[id] ?? []) {
      waiting[child] = (waiting[child] ?? 0) - 1;
      if (waiting[child] === 0) ready.push(child);
    }
  }
  return found;
}
