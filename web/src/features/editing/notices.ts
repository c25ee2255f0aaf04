import type { Merge, Place } from "@/lib/draft";

type PlaceKind = Place["kind"];

export type Did = "added" | "removed" | "moved" | "changed" | "connected" | "form" | "settings" | "renamed";

const KINDS: Partial<Record<PlaceKind, Did>> = {
  position: "moved",
  edge: "connected",
  field: "form",
  form: "form",
  setting: "settings",
  widget: "settings",
};
const ORDER: Did[] = ["renamed", "added", "removed", "changed", "moved", "connected", "form", "settings"];

/** What somebody did, counted in what people see: nodes, connections, the form, settings, the name. */
export function deedsOf({ writes, conflicts }: Merge): { did: Did; count: number }[] {
  const places = [...writes, ...conflicts.map((one) => ({ place: one.place, value: one.theirs }))];
  const seen = new Map<Did, Set<string>>();
  for (const { place, value } of places) {
    if (place.kind === "order") continue;
    const did = didOf(place, value);
    seen.set(did, (seen.get(did) ?? new Set()).add(place.kind === "edge" ? place.name : place.id || place.name));
  }
  // Edges come and go with their nodes: that is not told beside it.
  if (seen.has("added") || seen.has("removed")) seen.delete("connected");
  return ORDER.flatMap((did) => (seen.has(did) ? [{ did, count: seen.get(did)?.size ?? 0 }] : []));
}

function didOf({ kind, name }: Place, value: unknown): Did {
  if (kind === "node") return value ? "added" : "removed";
  if (kind === "about") return name === "name" ? "renamed" : "settings";
  return KINDS[kind] ?? "changed";
}

interface By {
  kind?: string;
  name?: string;
  user_id?: string | null;
}

/** Who it was: the person themself in another place, another person or key by name, or nobody we know. */
export function whoDid(by: unknown, myId: string | undefined): "self" | "unknown" | { name: string } {
  if (typeof by !== "object" || by === null) return "unknown";
  const { kind, name, user_id } = by as By;
  if (kind === "user" && user_id && user_id === myId) return "self";
  return name ? { name } : "unknown";
}
