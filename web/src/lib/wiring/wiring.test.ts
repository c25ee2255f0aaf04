import { describe, expect, it } from "vitest";
import type { Flow, Template } from "@/api/types";
import { toDocument } from "@/lib/draft";
import { nodeTemplate } from "./nodeTemplate";
import { insertReference, references } from "./references";
import { referenceFault, variablesAt } from "./variables";
import { wire } from "./wiring";

const text = (name: string) => ({ name, type: "Text" as const, label: name });
const TEMPLATES: Record<string, Template> = Object.fromEntries(
  [
    { type: "In", outputs: [text("text")] },
    { type: "Step", fields: [{ name: "input", kind: "text" as const }], outputs: [text("output"), text("extra")] },
    { type: "Model", outputs: [{ name: "model", type: "Model" as const }] },
    { type: "Note", annotation: true },
    { type: "Switch", outputs: [{ name: "otherwise", type: "Data" as const }] },
  ].map((one) => [one.type, { label: one.type, description: "", category: "", ...one }]),
);
const FLOW: Flow = {
  form: [{ id: "namn", label: "Namn", type: "text" }],
  nodes: [
    { id: "sum", type: "Step", label: "Summary" },
    { id: "first", type: "In", label: "Start" },
    {
      id: "middle",
      type: "Step",
      policy: {
        output_contract: {
          type: "json",
          schema: {
            type: "object",
            additionalProperties: false,
            properties: { who: { type: "object", properties: { age: { type: "integer" } } } },
          },
        },
      },
    },
    { id: "brain", type: "Model" },
    { id: "remark", type: "Note" },
  ],
  edges: [
    { source: "first", output: "text", target: "middle", input: "input" },
    { source: "middle", output: "output", target: "sum", input: "input" },
    { source: "brain", output: "model", target: "middle", input: "model" },
  ],
};
const document = toDocument(FLOW);
const fault = (at: string, path: string) => referenceFault(document, TEMPLATES, at, path.split("."))?.kind ?? null;

describe("the wiring of a flow", () => {
  it("runs parents before children, and neither models nor notes", () => {
    const wiring = wire(document, TEMPLATES);
    expect(wiring.order).toEqual(["first", "middle", "sum"]);
    expect([...wiring.configuration]).toEqual(["brain"]);
  });

  it("leaves out what stands on a cycle", () => {
    const round = toDocument({
      ...FLOW,
      edges: [...(FLOW.edges ?? []), { source: "sum", output: "output", target: "middle", input: "input" }],
    });
    expect(wire(round, TEMPLATES).order).toEqual(["first"]);
  });

  it("names the outputs of a switch as the server does", () => {
    const node = { id: "way", type: "Switch", params: { cases: ["Very urgent", "1st", "Å", "very urgent", " "] } };
    expect(nodeTemplate(node, TEMPLATES)?.outputs?.map((one) => one.name)).toEqual([
      "very_urgent",
      "case_1st",
      "a",
      "very_urgent_2",
      "otherwise",
    ]);
  });
});

describe("variables at a node", () => {
  it("are the form's fields and the outputs of steps before it, with what their contracts promise", () => {
    const groups = variablesAt(document, TEMPLATES, "sum");
    expect(groups.map((group) => group.id)).toEqual(["flow_input", "middle", "first"]);
    expect(groups[0]?.variables[0]).toMatchObject({ path: "flow_input.namn", label: "Namn" });
    expect(groups[1]?.variables.map((one) => one.path)).toEqual([
      "middle.output",
      "middle.output.who",
      "middle.output.who.age",
      "middle.extra",
    ]);
  });

  it("of a model are those of the step that it serves", () => {
    expect(variablesAt(document, TEMPLATES, "brain").map((group) => group.id)).toEqual(["flow_input", "first"]);
  });
});

describe("a reference", () => {
  it.each([
    ["sum", "flow_input.namn", null],
    ["sum", "flow_input.name", "field"],
    ["sum", "middle.output.who.age", null],
    ["sum", "middle.output.name", "member"],
    ["sum", "middle.summary", "output"],
    ["sum", "step_1.output", null],
    ["sum", "step_9.output", "step"],
    ["first", "sum.output", "later"],
    ["sum", "nobody.output", "step"],
    ["sum", "word", null],
  ])("at %s to %s is told as %s", (at, path, kind) => expect(fault(at, path)).toBe(kind));

  it("is found in text with its place", () => {
    expect(references("Hi {{ a.b }} {{}} {{ö.x}}")).toEqual([
      { path: ["a", "b"], start: 3, end: 12 },
      { path: ["ö", "x"], start: 18, end: 25 },
    ]);
  });

  it("is put in at the cursor and takes over braces that were begun", () => {
    expect(insertReference("ab", 1, 1, "x.y")).toEqual({ text: "a{{x.y}}b", at: 8 });
    expect(insertReference("a {{fl}} b", 6, 6, "x.y")).toEqual({ text: "a {{x.y}} b", at: 9 });
  });
});

it("gives a step that runs a flow, and a form, the ports that they declare", () => {
  const templates = {
    RunFlow: {
      type: "RunFlow",
      fields: [{ name: "text", kind: "text" }],
      outputs: [{ name: "text", type: "Text" as const }],
    },
  } as unknown as Parameters<typeof nodeTemplate>[1];
  const params = {
    inputs: { rows: "Table", flow: "Text", "no name": "Text" },
    outputs: { total: "Data", text: "Data" },
  };
  const made = nodeTemplate({ id: "call", type: "RunFlow", params } as never, templates);
  expect(made?.fields?.map((one) => [one.name, one.types])).toEqual([
    ["text", undefined],
    ["rows", ["Table"]],
  ]);
  expect(made?.outputs?.map((one) => [one.name, one.type])).toEqual([
    ["text", "Text"],
    ["total", "Data"],
  ]);
});
