import { describe, expect, it } from "vitest";
import type { FlowItem } from "@/api/queries/flowList";
import { readFlowFile } from "./imports/readFile";
import { flowOfSketch } from "./sketch";

describe("reading a file", () => {
  it("gives the text", async () => {
    expect(await readFlowFile(new File(["name: Å"], "a.flow"))).toEqual({ content: "name: Å" });
  });
  it("refuses what is no text", async () => {
    expect(await readFlowFile(new File([new Uint8Array([0xff, 0xfe, 0])], "a.json"))).toEqual({ refused: "binary" });
    expect(await readFlowFile(new File(["a\u0000b"], "a.json"))).toEqual({ refused: "binary" });
  });
  it("refuses what is too large without reading it", async () => {
    const large = { size: 4_000_001, arrayBuffer: () => Promise.reject(new Error("read")) } as unknown as File;
    expect(await readFlowFile(large)).toEqual({ refused: "large" });
  });
});

describe("the picture of a flow in the list", () => {
  it("has its nodes and edges", () => {
    const node = { id: "a", type: "ChatInput", label: "", position: { x: 0, y: 0 } };
    const item = { name: "A", sketch: { nodes: [node], edges: [] } } as unknown as FlowItem;
    expect(flowOfSketch(item)?.nodes).toEqual([node]);
  });
  it("is none of an empty or a very large one", () => {
    expect(flowOfSketch({ name: "A", sketch: null })).toBeNull();
    expect(flowOfSketch({ name: "A", sketch: { nodes: [], edges: [] } })).toBeNull();
  });
});
