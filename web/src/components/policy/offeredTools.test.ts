import { describe, expect, it } from "vitest";
import type { Flow, Template } from "@/api/types";
import { toDocument } from "@/lib/draft";
import { offeredTools } from "./offeredTools";

const component = (type: string, outputs: Template["outputs"] = []): Template => ({
  type,
  label: type,
  description: "",
  category: "",
  outputs,
});
const TEMPLATES = Object.fromEntries(
  [
    component("Agent", [{ name: "response", type: "Text" }]),
    component("McpTools", [{ name: "tools", type: "Tool" }]),
    component("HTTPRequest", [{ name: "data", type: "Data" }]),
    component("Forecast", [{ name: "get_forecast", type: "Data" }]),
  ].map((one) => [one.type, one]),
);

function offered(nodes: Flow["nodes"], outputs: Record<string, string>) {
  const edges = Object.entries(outputs).map(([source, output]) => ({ source, output, target: "a", input: "tools" }));
  return offeredTools(toDocument({ nodes: [{ id: "a", type: "Agent" }, ...(nodes ?? [])], edges }), TEMPLATES, "a");
}

describe("the tools that hang on a step", () => {
  it("are called as the server calls them", () => {
    const nodes = [
      { id: "web", type: "HTTPRequest" },
      { id: "own", type: "Forecast", code: "class Forecast" },
      { id: "crm", type: "McpTools", params: { server: "crm" } },
      { id: "mail", type: "McpTools", params: { server: "mail", tools: ["send", "read"] } },
    ];
    expect(offered(nodes, { web: "tool", own: "tool", crm: "tools", mail: "tools" })).toEqual({
      names: ["http_request", "get_forecast", "mail.send", "mail.read"],
      servers: ["crm"],
    });
  });

  it("bear their ids where two are called the same", () => {
    const nodes = [
      { id: "one", type: "HTTPRequest" },
      { id: "two", type: "HTTPRequest" },
    ];
    expect(offered(nodes, { one: "tool", two: "tool" }).names).toEqual(["one", "two"]);
  });

  it("are not what brings data", () => {
    expect(offered([{ id: "web", type: "HTTPRequest" }], { web: "data" }).names).toEqual([]);
  });
});
