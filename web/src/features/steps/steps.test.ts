import { describe, expect, it } from "vitest";
import type { Flow, FlowNode, Template } from "@/api/types";
import { toDocument } from "@/lib/draft";
import { wire } from "@/lib/wiring";
import { fitting, lanesOf, swapped } from "./lanes";
import { warningsAt } from "./warnings";

const text = (name: string, branch = false) => ({ name, type: "Text" as const, branch });
const input = { name: "input", kind: "text" as const, types: ["Text" as const], main: true };
const component = (type: string, more: Partial<Template>): Template => ({
  type,
  label: type,
  description: "",
  category: "",
  ...more,
});
const TEMPLATES = Object.fromEntries(
  [
    component("In", { outputs: [text("text")] }),
    component("Step", { fields: [input], outputs: [text("output")] }),
    component("Ask", { fields: [input, { name: "model", kind: "model" }], outputs: [text("output")] }),
    component("If", { fields: [input], outputs: [text("true", true), text("false", true)] }),
    component("FileInput", { outputs: [{ name: "file", type: "File" }] }),
    component("Note", { annotation: true }),
  ].map((one) => [one.type, one]),
);

function flow(nodes: Record<string, string | Partial<FlowNode>>, edges: string[], form: Flow["form"] = []) {
  const document = toDocument({
    form,
    nodes: Object.entries(nodes).map(([id, more]) =>
      typeof more === "string" ? { id, type: more } : { id, type: "Step", ...more },
    ),
    edges: edges.map((edge) => {
      const [from = "", target = ""] = edge.split(">");
      const [source = "", output = "output"] = from.split(".");
      return { source, output, target, input: "input" };
    }),
  });
  return { document, wiring: wire(document, TEMPLATES) };
}

describe("steps in lanes", () => {
  it("stand in where the way splits, and out again where it meets", () => {
    const { wiring } = flow({ a: "In", b: "If", c: "Step", d: "Step", e: "Step", f: "Step" }, [
      "a.text>b",
      "b.true>c",
      "c>d",
      "b.false>e",
      "d>f",
      "e>f",
    ]);
    expect(lanesOf(wiring).map((lane) => [lane.id, lane.depth, lane.split?.output])).toEqual([
      ["a", 0, undefined],
      ["b", 0, undefined],
      ["c", 1, "true"],
      ["d", 1, undefined],
      ["e", 1, "false"],
      ["f", 0, undefined],
    ]);
  });

  it("leave no step out, even on a cycle", () => {
    const { wiring } = flow({ a: "Step", b: "Step" }, ["a>b", "b>a"]);
    expect(lanesOf(wiring).map((lane) => lane.id)).toEqual(["a", "b"]);
  });
});

describe("two steps of a chain", () => {
  it("change places with their edges", () => {
    const { document, wiring } = flow({ a: "In", b: "Step", c: "Step", d: "Step" }, ["a.text>b", "b>c", "c>d"]);
    const found = swapped(document, TEMPLATES, wiring, "b");
    expect(found?.lower).toBe("c");
    expect(found?.add.map((edge) => `${edge.source}>${edge.target}`)).toEqual(["a>c", "c>b", "b>d"]);
    expect(found?.remove).toHaveLength(3);
  });

  it("do not where a way splits, or where their types do not fit", () => {
    const split = flow({ a: "In", b: "Step", c: "Step", d: "Step" }, ["a.text>b", "b>c", "b>d"]);
    expect(swapped(split.document, TEMPLATES, split.wiring, "b")).toBeNull();
    const first = flow({ a: "In", b: "Step" }, ["a.text>b"]);
    expect(swapped(first.document, TEMPLATES, first.wiring, "a")).toBeNull();
  });
});

describe("what fits behind a step", () => {
  it("takes what the step gives; at the beginning it needs nothing", () => {
    expect(fitting(TEMPLATES, TEMPLATES.In).map((one) => one.type)).toEqual(["Step", "Ask", "If"]);
    expect(fitting(TEMPLATES, TEMPLATES.FileInput)).toEqual([]);
    expect(fitting(TEMPLATES, undefined).map((one) => one.type)).toContain("In");
  });
});

describe("warnings", () => {
  const model = (name: string, vision: boolean) => ({
    provider: "openai",
    name,
    label: name,
    tools: "native" as const,
    vision,
    audio: false,
    structured_output: true,
    temperature: true,
    context_window: null,
    max_output: null,
    price_in: null,
    price_out: null,
    known: true,
  });
  const models = [model("seeing", true), model("blind", false)];
  const picture = (name: string) =>
    flow(
      {
        pic: { type: "FileInput", params: { field: "drawing" } },
        ask: { type: "Ask", params: { model: `openai/${name}` } },
      },
      ["pic.file>ask"],
      [{ id: "drawing", type: "image" }],
    );
  const at = ({ document, wiring }: ReturnType<typeof flow>, id: string) =>
    warningsAt(document, TEMPLATES, wiring, models, id).map((one) => [one.kind, one.name]);

  it("say that a model sees no images", () => {
    expect(at(picture("blind"), "ask")).toEqual([["vision", "blind"]]);
    expect(at(picture("seeing"), "ask")).toEqual([]);
    expect(at(picture("nobody-knows"), "ask")).toEqual([]);
  });

  it("say that sound goes to a model that hears none", () => {
    const heard = flow(
      { ask: { type: "Ask", params: { model: "openai/seeing" }, policy: { input_type: "audio" } } },
      [],
    );
    expect(at(heard, "ask")).toEqual([["hearing", "seeing"]]);
  });

  it("say that a step gives another kind than the next one takes", () => {
    const made = (given: FlowNode["policy"], wanted: FlowNode["policy"]) =>
      at(flow({ a: { policy: given, label: "First" }, b: { policy: wanted } }, ["a>b"]), "b");
    expect(made({}, { input_type: "json" })).toEqual([["type", "First"]]);
    expect(made({ output_type: "json" }, { input_type: "json" })).toEqual([]);
    expect(made({ output_type: "json" }, { input_type: "text" })).toEqual([]);
    expect(made({}, { input_type: "image" })).toEqual([["type", "First"]]);
    expect(made({}, { input_type: "json", input_source: "flow_input" })).toEqual([]);
  });
});
