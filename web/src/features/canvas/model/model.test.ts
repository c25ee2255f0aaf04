import { describe, expect, it } from "vitest";
import type { Flow, Template } from "@/api/types";
import { emptyNode, toDocument } from "@/lib/draft";
import { cardOf } from "./card";
import { beginConnecting, bestInput, between, canConnect, fitsPort, fitting } from "./compatibility";
import { createFlowNodes } from "./flowNodes";
import { membersOf } from "./groups";
import { distance, searched } from "./search";
import { createUsage } from "./usage";
import { isFar } from "./view";

const template = (type: string, more: Partial<Template>): Template =>
  ({
    type,
    label: type,
    description: "",
    category: "data",
    icon: "",
    keywords: [],
    fields: [],
    outputs: [],
    ...more,
  }) as Template;

const TEMPLATES: Record<string, Template> = Object.fromEntries(
  [
    template("Say", { outputs: [{ name: "text", type: "Text" }] }),
    template("Join", {
      fields: [
        { name: "parts", kind: "text", types: ["Text"], many: true, main: true },
        { name: "style", kind: "text", types: ["Text"], advanced: true },
        { name: "title", kind: "text" },
      ],
      outputs: [{ name: "text", type: "Text" }],
    }),
    template("Sort", {
      fields: [{ name: "rows", kind: "table", types: ["Table"], main: true }],
      outputs: [{ name: "table", type: "Table" }],
    }),
    template("Sum", {
      fields: [{ name: "what", kind: "text", types: ["Text"], main: true, tool_mode: true }],
      outputs: [{ name: "result", type: "Data" }],
    }),
    template("Agent", {
      fields: [
        { name: "tools", kind: "tools", types: ["Tool"], many: true },
        { name: "input", kind: "text", types: ["Text", "Message"], main: true },
      ],
      outputs: [{ name: "response", type: "Text" }],
    }),
    template("Note", { annotation: true }),
  ].map((one) => [one.type, one]),
);

const node = (id: string, type: string, x = 0) => ({ ...emptyNode(), id, type, position: { x, y: 0 } });
const FLOW: Flow = {
  name: "Three",
  nodes: [node("a", "Say"), node("b", "Join", 400), node("c", "Join", 800), node("d", "Sort", 1200)],
  edges: [
    { source: "a", output: "text", target: "b", input: "parts" },
    { source: "b", output: "text", target: "c", input: "parts" },
  ],
};
const edge = (source: string, output: string, target: string, input: string) => ({ source, output, target, input });

describe("what may be connected", () => {
  const document = toDocument(FLOW);
  it("takes what fits and refuses what does not, what is there, and circles", () => {
    expect(canConnect(document, TEMPLATES, edge("a", "text", "c", "parts"))).toBe(true);
    expect(canConnect(document, TEMPLATES, edge("a", "text", "d", "rows"))).toBe(false);
    expect(canConnect(document, TEMPLATES, edge("a", "text", "b", "parts"))).toBe(false);
    expect(canConnect(document, TEMPLATES, edge("c", "text", "b", "parts"))).toBe(false);
    expect(canConnect(document, TEMPLATES, edge("a", "text", "b", "nothing"))).toBe(false);
  });
  it("lets an edge turn around when the one it replaces goes", () => {
    expect(canConnect(document, TEMPLATES, edge("c", "text", "b", "style"), "b.text>c.parts")).toBe(true);
  });
  it("lights up the ports that fit while one connects, from either end", () => {
    const from = beginConnecting(document, TEMPLATES, { nodeId: "b", port: "text", side: "output" });
    const to = (nodeId: string, port: string) => ({ nodeId, port, side: "input" as const });
    expect(fitsPort(from, to("c", "style"), ["Text"])).toBe("exact");
    expect(fitsPort(from, to("d", "rows"), ["Table"])).toBeNull();
    expect(fitsPort(from, to("a", "x"), ["Text"])).toBeNull();
    const back = beginConnecting(document, TEMPLATES, { nodeId: "c", port: "parts", side: "input" });
    expect(fitsPort(back, { nodeId: "a", port: "text", side: "output" }, ["Text"])).toBe("exact");
  });
  it("offers only what fits, what needs no conversion first", () => {
    const types = fitting({ side: "output", types: ["Data"] }, Object.values(TEMPLATES)).map(
      (one) => one.template.type,
    );
    expect(types).toEqual(expect.arrayContaining(["Join", "Sort", "Agent"]));
    expect(types).not.toContain("Say");
    expect(types).not.toContain("Note");
    const tools = fitting({ side: "input", types: ["Tool"] }, Object.values(TEMPLATES));
    expect(tools.map((one) => [one.template.type, one.port])).toEqual([["Sum", "tool"]]);
  });
  it("knows what can stand between two ends", () => {
    const found = between("Text", ["Text"], Object.values(TEMPLATES)).map((one) => one.template.type);
    expect(found).toEqual(["Join", "Sum", "Agent"]);
  });
  it("drops on the free main input before others", () => {
    const inputs = [
      {
        name: "one",
        label: "",
        help: "",
        types: ["Text" as const],
        many: false,
        main: true,
        required: false,
        advanced: false,
      },
      {
        name: "two",
        label: "",
        help: "",
        types: ["Text" as const],
        many: false,
        main: false,
        required: false,
        advanced: false,
      },
    ];
    expect(bestInput("Text", inputs)?.port).toBe("one");
    expect(bestInput("Text", inputs, ["one"])?.port).toBe("two");
    expect(bestInput("File", inputs)).toBeNull();
  });
});

describe("how a node is drawn", () => {
  const NONE = { inputs: [], outputs: [] };
  it("shows a setting's port only while it is connected", () => {
    const join = node("b", "Join");
    expect(cardOf(join, TEMPLATES.Join, NONE).inputs.map((port) => port.name)).toEqual(["parts"]);
    const used = { inputs: ["style"], outputs: [] };
    expect(cardOf(join, TEMPLATES.Join, used).inputs.map((port) => port.name)).toEqual(["parts", "style"]);
  });
  it("keeps ports that edges use of a component nobody knows", () => {
    const card = cardOf(node("x", "Gone"), undefined, { inputs: ["in"], outputs: ["out"] });
    expect([card.inputs[0]?.name, card.outputs[0]?.name]).toEqual(["in", "out"]);
  });
  it("shows the flow that a step runs before its other values", () => {
    const fields = ["text", "multiline", "number", "integer"].map((kind) => ({ name: kind, kind, required: true }));
    const each = template("ForEach", {
      fields: [...fields, { name: "flow", kind: "flow", required: true }] as Template["fields"],
      outputs: ["a", "b", "c", "d", "e"].map((name) => ({ name, type: "Text" as const })),
    });
    expect(cardOf(node("n", "ForEach"), each, NONE).fields.map((field) => field.name)).toContain("flow");
  });
  it("is never taller than the server leaves room for", () => {
    for (const one of Object.values(TEMPLATES)) {
      const ports = (one.fields ?? []).filter((field) => field.types?.length).length + (one.outputs ?? []).length;
      expect(cardOf(node("n", one.type), one, NONE).height).toBeLessThanOrEqual(
        Math.max(64 + 28 * Math.max(ports, 1) + 20, 160),
      );
    }
  });
  it("keeps every object that nothing changed on", () => {
    const draw = createFlowNodes();
    const document = toDocument(FLOW);
    const first = draw({ document, templates: TEMPLATES, selected: [], overlay: {} });
    expect(draw({ document, templates: TEMPLATES, selected: [], overlay: {} })).toBe(first);
    const next = draw({ document, templates: TEMPLATES, selected: ["b"], overlay: {} });
    expect(next.map((one, index) => one === first[index])).toEqual([true, false, true, true]);
    const dragged = draw({ document, templates: TEMPLATES, selected: ["b"], overlay: { c: { x: 5, y: 6 } } });
    expect(dragged[2]?.position).toEqual({ x: 5, y: 6 });
    expect(dragged[1]).toBe(next[1]);
  });
  it("keeps what it knew of ports when other edges change", () => {
    const usage = createUsage();
    const document = toDocument(FLOW);
    const before = usage(document.edges)("b");
    const { "b.text>c.parts": _gone, ...rest } = document.edges;
    expect(usage(rest)("c").inputs).toEqual([]);
    expect(usage(document.edges)("b")).toEqual(before);
  });
  it("draws boxes from afar, later in a small flow", () => {
    expect([isFar(0.3, 1000), isFar(0.3, 20), isFar(0.1, 20), isFar(0.5, 1000)]).toEqual([true, false, true, false]);
  });
});

describe("search", () => {
  const items = ["Web page", "Regular expression", "Chat input", "Summarise"];
  const find = (query: string) => searched(query, items, (one) => [one, "", ""]);
  it("forgives slips and accents, and wants every word", () => {
    expect(find("regluar")).toEqual(["Regular expression"]);
    expect(find("sumarise")).toEqual(["Summarise"]);
    expect(find("chát")).toEqual(["Chat input"]);
    expect(find("chat page")).toEqual([]);
    expect(find("zzz")).toEqual([]);
  });
  it("gives everything for nothing", () => expect(find("")).toEqual(items));
  it("counts a swap as one slip", () => expect(distance("form", "from", 2)).toBe(1));
});

describe("groups", () => {
  const rect = (x: number, width = 100) => ({ x, y: 0, width, height: 100 });
  it("hold what has its middle in them, the smallest first", () => {
    const rects = { big: rect(0, 1000), small: rect(0, 300), a: rect(50), b: rect(600), c: rect(2000) };
    expect(membersOf(["big", "small"], rects)).toEqual({ big: ["b"], small: ["a"] });
  });
});
