import { describe, expect, it } from "vitest";
import type { Flow, FlowOut } from "@/api/types";
import { flowOut } from "@/testing/render";
import { toFlow } from "./document";
import { emptyNode } from "./emptyNode";
import { createDraftStore } from "./store";

const node = (id: string, text = "") => ({ ...emptyNode(), id, type: "Prompt", params: { text } });
const open = (flow: Flow = { name: "Echo", nodes: [], edges: [] }, editable = true) =>
  createDraftStore(flowOut(flow), [], editable).getState;
const told = (flow: Flow, revision: number): FlowOut => ({ ...flowOut(flow), revision });
type Get = ReturnType<typeof open>;
const others = (get: Get, revision: number, edit: (flow: Flow) => void) => {
  const theirs = structuredClone(toFlow(get().base));
  edit(theirs);
  return get().follow(told(theirs, revision), "Anna");
};
const first = (flow: Flow) => flow.nodes?.[0] ?? node("?");

describe("a draft store", () => {
  it("takes back and repeats every change", () => {
    const get = open();
    const id = get().addNode("ChatInput", { x: 10, y: 20 });
    get().setParam(id, "text", "hello");
    const after = toFlow(get().document);
    get().undo();
    get().undo();
    expect(toFlow(get().document).nodes).toEqual([]);
    get().redo();
    get().redo();
    expect(toFlow(get().document)).toEqual(after);
  });

  it("takes typing back as one step", () => {
    const get = open();
    const id = get().addNode("ChatInput", { x: 0, y: 0 });
    for (const text of ["h", "he", "hel"]) get().setParam(id, "text", text);
    get().undo();
    expect(get().document.nodes[id]?.params).toEqual({});
  });

  it("takes back only what was done here, whatever others did since", () => {
    const get = open({ nodes: [node("a"), node("b")] });
    get().setParam("a", "text", "mine");
    get().addNode("Note", { x: 0, y: 0 }, { id: "mine" });
    others(get, 2, (flow) => {
      flow.nodes?.unshift(node("theirs", "new"));
      first({ nodes: [flow.nodes?.[2] ?? node("?")] }).label = "B";
    });
    expect(get().document.order).toContain("theirs");
    get().undo();
    get().undo();
    expect(Object.keys(get().document.nodes).sort()).toEqual(["a", "b", "theirs"]);
    expect([...get().document.order].sort()).toEqual(["a", "b", "theirs"]);
    expect(get().document.nodes.b?.label).toBe("B");
    expect(get().document.nodes.a?.params).toEqual({ text: "" });
    get().redo();
    get().redo();
    expect(get().document.nodes.a?.params).toEqual({ text: "mine" });
    expect(get().document.nodes.mine).toBeDefined();
  });

  it("leaves what others changed after us when that is taken back, and says so", () => {
    const get = open({ nodes: [node("a")] });
    get().setParam("a", "text", "mine");
    get().saved(get().document, get().edits, told(toFlow(get().document), 2));
    others(get, 3, (flow) => {
      first(flow).params = { text: "theirs" };
    });
    expect(get().undo()?.kept).toBe(1);
    expect(get().document.nodes.a?.params).toEqual({ text: "theirs" });
  });

  it("does not join typing over somebody else's change in between", () => {
    const get = open({ nodes: [node("a")] });
    get().setLabel("a", "A");
    others(get, 2, (flow) => {
      flow.name = "Theirs";
    });
    get().setLabel("a", "AB");
    expect(get().past).toHaveLength(2);
    get().undo();
    expect(get().document.nodes.a?.label).toBe("A");
    expect(get().document.name).toBe("Theirs");
  });

  it("replaces a flow in one step and leaves nodes that are the same as they were", () => {
    const get = open({ nodes: [node("a", "1"), node("b", "2")] });
    const kept = get().document.nodes.a;
    get().replaceFlow(
      { name: "New", nodes: [node("c", "3"), node("a", "1")] },
      { label: "Restore", origin: "assistant" },
    );
    expect(get().document.nodes.a).toBe(kept);
    expect(get().document.order).toEqual(["c", "a"]);
    get().undo();
    expect(get().document.order).toEqual(["a", "b"]);
    expect(get().document.name).toBe("");
  });

  it("is not changed by those who may not", () => {
    const get = open({ nodes: [node("a")] }, false);
    get().setLabel("a", "A");
    get().removeNodes(["a"]);
    expect(get().document.nodes.a?.label).toBe("");
    others(get, 2, (flow) => {
      first(flow).label = "Theirs";
    });
    expect(get().document.nodes.a?.label).toBe("Theirs");
  });

  it("handles a thousand nodes quickly", () => {
    const get = open({ nodes: Array.from({ length: 1000 }, (_, index) => node(`n${index}`)) });
    const start = performance.now();
    for (let count = 0; count < 100; count += 1) get().moveNodes({ [`n${count}`]: { x: count, y: 1 } });
    for (let count = 0; count < 100; count += 1) get().undo();
    expect(performance.now() - start).toBeLessThan(1500);
    expect(get().document.nodes.n99?.position).toEqual({ x: 0, y: 0 });
  });
});

describe("a draft that others change too", () => {
  it("takes in what they did and keeps what is not saved here", () => {
    const get = open({ nodes: [node("a"), node("b")] });
    get().setParam("a", "text", "mine");
    const found = others(get, 5, (flow) => {
      if (flow.nodes?.[1]) flow.nodes[1].label = "Theirs";
    });
    expect(found.writes).toHaveLength(1);
    expect(get()).toMatchObject({ revision: 5, saveState: "unsaved", conflict: null });
    expect(get().document.nodes).toMatchObject({ a: { params: { text: "mine" } }, b: { label: "Theirs" } });
  });

  it("asks where both changed the same, remembers that when they change more, and does as told", () => {
    const get = open({ nodes: [node("a"), node("b")] });
    get().setParam("a", "text", "mine");
    get().setLabel("b", "My B");
    others(get, 2, (flow) => {
      first(flow).params = { text: "theirs" };
      if (flow.nodes?.[1]) flow.nodes[1].label = "Their B";
    });
    expect(get().saveState).toBe("conflict");
    const theirs = structuredClone(get().conflict?.theirs ?? {});
    theirs.name = "Renamed";
    get().follow(told(theirs, 3), "Anna");
    expect(get().conflict?.items).toHaveLength(2);
    expect(get().document.name).toBe("Renamed");
    get().settle(new Set(["param a text"]));
    expect(get().document.nodes).toMatchObject({ a: { params: { text: "theirs" } }, b: { label: "My B" } });
    expect(get()).toMatchObject({ conflict: null, revision: 3, saveState: "unsaved" });
    expect(get().edits).toBeGreaterThan(get().savedEdits);
  });

  it("ends a conflict by itself when they come to what we have", () => {
    const get = open({ nodes: [node("a")] });
    get().setLabel("a", "Same");
    others(get, 2, (flow) => {
      first(flow).label = "Other";
    });
    expect(get().saveState).toBe("conflict");
    get().follow(told(toFlow(get().document), 3), "Anna");
    expect(get().conflict).toBeNull();
  });

  it("takes the server's form of what it saved, but not over what was typed meanwhile", () => {
    const get = open({ nodes: [node("a", "1"), node("b", "1")] });
    get().setParam("a", "text", "2");
    const [sent, edits] = [get().document, get().edits];
    get().setParam("a", "text", "23");
    const answer = structuredClone(toFlow(sent));
    first(answer).params = { text: "2 ", more: 1 };
    get().saved(sent, edits, told(answer, 2));
    expect(get().document.nodes.a?.params).toEqual({ text: "23", more: 1 });
    expect(get().saveState).toBe("unsaved");
  });

  it("goes on from what a crash left, with what others did since", () => {
    const base: Flow = { name: "F", nodes: [node("a"), node("b")] };
    const mine: Flow = { name: "F", nodes: [node("a", "lost"), node("b")] };
    const get = open({ name: "Theirs", nodes: [node("a"), node("b", "theirs")] });
    get().resume(base, mine, "Bring back");
    expect(get().document).toMatchObject({ name: "Theirs", nodes: { a: { params: { text: "lost" } } } });
    expect(get().document.nodes.b?.params).toEqual({ text: "theirs" });
    expect(get().saveState).toBe("unsaved");
  });
});
