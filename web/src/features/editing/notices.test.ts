import { describe, expect, it } from "vitest";
import type { Merge } from "@/lib/draft";
import { deedsOf, whoDid } from "./notices";

const merge = (...writes: Merge["writes"]): Merge => ({ writes, conflicts: [] });
const at = (kind: string, id = "", name = "") => ({ kind, id, name }) as Merge["writes"][number]["place"];

describe("what somebody did", () => {
  it("is counted in nodes, however many places of one changed", () => {
    const found = merge(
      { place: at("param", "a", "x"), value: 1 },
      { place: at("param", "a", "y"), value: 1 },
      { place: at("position", "b"), value: {} },
      { place: at("position", "c"), value: {} },
      { place: at("order", "", "nodes"), value: [] },
    );
    expect(deedsOf(found)).toEqual([
      { did: "changed", count: 1 },
      { did: "moved", count: 2 },
    ]);
  });

  it("does not tell of connections that came with a node", () => {
    const found = merge({ place: at("node", "a"), value: {} }, { place: at("edge", "a", "x"), value: {} });
    expect(deedsOf(found)).toEqual([{ did: "added", count: 1 }]);
  });

  it("was done by oneself elsewhere, by another, or by nobody known", () => {
    expect(whoDid({ kind: "user", name: "Me", user_id: "1" }, "1")).toBe("self");
    expect(whoDid({ kind: "key", name: "A client", user_id: "1" }, "1")).toEqual({ name: "A client" });
    expect(whoDid(undefined, "1")).toBe("unknown");
  });
});
