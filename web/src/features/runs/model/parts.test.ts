import { describe, expect, it } from "vitest";
import { EMPTY, runStart } from "./form";
import { pinnable, withPart } from "./parts";

const START = runStart([], EMPTY);
const PINS = { a: { text: "x" }, b: { text: "y" }, gone: { text: "z" } };
const NODES = { a: 1, b: 1, c: 1 };

describe("a part of a flow", () => {
  it("stops at a node or begins at it, and never pins the node itself or nodes that are gone", () => {
    expect(withPart(START, { kind: "node", nodeId: "b" }, PINS, NODES)).toMatchObject({
      only_step: "b",
      pins: { a: { text: "x" } },
    });
    expect(withPart(START, { kind: "from", nodeId: "c" }, PINS, NODES)).toMatchObject({
      from_step: "c",
      pins: { a: { text: "x" }, b: { text: "y" } },
    });
    expect(withPart(START, { kind: "flow" }, {}, NODES)).toEqual(START);
  });

  it("is pinned from outputs that are there in full", () => {
    expect(pinnable({ text: { type: "Text", value: "x" } })).toEqual({ text: "x" });
    expect(pinnable({ text: { type: "Text", file_id: "f", preview: "x", truncated: true } })).toBeNull();
    expect(pinnable(undefined)).toBeNull();
  });
});
