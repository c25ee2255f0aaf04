import { describe, expect, it } from "vitest";
import { flowOut } from "@/testing/render";
import { toFlow } from "./document";
import { createDraftStore } from "./store";

const open = () => createDraftStore(flowOut({ name: "Echo", nodes: [], edges: [] }), []).getState;

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
});
