import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Flow, FlowEdge, FlowNode, Template } from "@/api/types";
import { toDocument } from "@/lib/draft";
import { before, orphans, wire } from "./index";
import { referenceFault } from "./variables";

interface Case {
  name: string;
  nodes: Record<string, Omit<FlowNode, "id">>;
  edges: string[];
  order: string[];
  implied: Record<string, string[]>;
  orphans: string[];
}

/** The cases that the server's `tests/unit/graph/test_implied_order.py` reads too. */
const CASES = JSON.parse(readFileSync(resolve("../tests/data/implied_order.json"), "utf8")) as Case[];
const TYPES = ["CombineText", "TextInput", "URL", "Agent"];
const TEMPLATES = Object.fromEntries(
  TYPES.map((type) => [
    type,
    {
      type,
      label: type,
      description: "",
      category: "",
      fields: type === "URL" ? [{ name: "url", kind: "text", tool_mode: true }] : [],
      outputs: [{ name: "text", type: "Text", label: "Text" }],
    } as unknown as Template,
  ]),
);

function documentOf({ nodes, edges }: Case) {
  const read = edges.map((text) => {
    const [source, output, target, input] = text.split(/ -> |\./);
    return { source, output, target, input } as FlowEdge;
  });
  return toDocument({ nodes: Object.entries(nodes).map(([id, node]) => ({ id, ...node })), edges: read } as Flow);
}

describe("the order that references imply", () => {
  it.each(CASES)("$name", (one) => {
    const document = documentOf(one);
    const wiring = wire(document, TEMPLATES);
    expect(wiring.order).toEqual(one.order);
    expect(wiring.implied).toEqual(one.implied);
    expect(orphans(document, TEMPLATES, wiring)).toEqual(one.orphans);
    for (const [reader, sources] of Object.entries(one.implied)) {
      expect(before(wiring, reader)).toEqual(expect.arrayContaining(sources));
      for (const source of sources) expect(referenceFault(document, TEMPLATES, reader, [source, "text"])).toBeNull();
    }
  });
});
