import { describe, expect, it } from "vitest";
import { emptyNode, toDocument } from "@/lib/draft";
import { copied, pasteInto, readClip, written } from ".";

const node = (id: string, params = {}) => ({ ...emptyNode(), id, type: "AIStep", params });
const document = toDocument({
  name: "",
  nodes: [node("a"), node("b", { prompt: "Use {{a.output}} and {{ other.text }}" }), node("c")],
  edges: [
    { source: "a", output: "output", target: "b", input: "input" },
    { source: "b", output: "output", target: "c", input: "input" },
  ],
});

describe("copy and paste", () => {
  it("takes edges and references along under new names", () => {
    const clip = readClip(written(copied(document, ["a", "b"])));
    expect(clip?.edges).toHaveLength(1);
    const draft = structuredClone(document);
    const ids = pasteInto(draft, clip ?? { nodes: [], edges: [] }, { x: 10, y: 20 });
    expect(ids).toEqual(["a_2", "b_2"]);
    expect(draft.nodes.b_2?.params?.prompt).toBe("Use {{a_2.output}} and {{ other.text }}");
    expect(draft.edges["a_2.output>b_2.input"]).toBeDefined();
    expect(draft.nodes.a_2?.position).toEqual({ x: 10, y: 20 });
    expect(draft.nodes.b).toEqual(document.nodes.b);
  });
  it("reads an exported flow", () => {
    const text = JSON.stringify({ headgate_flow: 1, name: "F", nodes: [{ id: "a", type: "ChatInput" }], edges: [] });
    expect(readClip(text)?.nodes[0]?.type).toBe("ChatInput");
  });
});

describe("what anybody may have put into the clipboard", () => {
  const wrap = (more: object) => JSON.stringify({ headgate: 1, nodes: [{ id: "a", type: "X", ...more }], edges: [] });
  it.each([
    ["words", "hello"],
    ["no JSON", "{nodes: ["],
    ["a list", "[]"],
    ["nothing", '{"nodes": []}'],
    ["a bad id", wrap({ id: "../a" })],
    ["a bad type", wrap({ type: "<b>" })],
    ["a value that is no object", wrap({ params: "x" })],
    ["names that mean something", '{"nodes":[{"id":"a","type":"X","params":{"p":{"__proto__":{"x":1}}}}]}'],
    [
      "two of one name",
      JSON.stringify({
        nodes: [
          { id: "a", type: "X" },
          { id: "a", type: "X" },
        ],
      }),
    ],
    ["an edge of the wrong shape", JSON.stringify({ nodes: [{ id: "a", type: "X" }], edges: [{ source: 1 }] })],
    ["far too many", JSON.stringify({ nodes: Array.from({ length: 2001 }, (_, n) => ({ id: `n${n}`, type: "X" })) })],
    ["far too deep", `{"nodes":[{"id":"a","type":"X","params":{"p":${"[".repeat(60)}${"]".repeat(60)}}}]}`],
  ])("is refused: %s", (_what, text) => expect(readClip(text)).toBeNull());

  it("loses what is not a node's own, and places beyond the world", () => {
    const clip = readClip(
      wrap({ position: { x: 1e300, y: "5" }, evil: true, linked: { model: "x" }, policy: { nonsense: 1 } }),
    );
    expect(clip?.nodes[0]).toEqual({ ...emptyNode(), id: "a", type: "X" });
  });
  it("loses edges that lead out of it", () => {
    const text = JSON.stringify({
      nodes: [{ id: "a", type: "X" }],
      edges: [{ source: "a", output: "o", target: "z", input: "i" }],
    });
    expect(readClip(text)?.edges).toEqual([]);
  });
});
