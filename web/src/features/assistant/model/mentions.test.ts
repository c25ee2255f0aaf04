import { describe, expect, it } from "vitest";
import type { FlowNode, Template } from "@/api/types";
import { fieldChoices, mentionAt, mentioned, nodeChoices } from "./mentions";

const NODES = { ask: { id: "ask", type: "ChatInput" }, page: { id: "page", type: "URL", label: "Front page" } };
const TEMPLATE = {
  type: "URL",
  label: "Web page",
  fields: [
    { name: "url", kind: "text", label: "Address" },
    { name: "code", kind: "code", label: "Code" },
    { name: "_type", kind: "text", label: "Type" },
  ],
} as unknown as Template;

describe("mentions", () => {
  it("begin with @ behind white space, and hold what is typed", () => {
    expect(mentionAt("look at @pa", 11, NODES)).toMatchObject({ kind: "node", from: 8, query: "pa" });
    expect(mentionAt("ann@example.org", 15, NODES)).toBeNull();
  });

  it("of fields begin with a dot behind a step that was named", () => {
    expect(mentionAt("set 'page'.u", 12, NODES)).toMatchObject({ kind: "field", nodeId: "page", query: "u" });
    expect(mentionAt("set 'gone'.u", 12, NODES)).toBeNull();
  });

  it("find steps by name and by what they are", () => {
    const all = Object.values(NODES) as FlowNode[];
    expect(nodeChoices(all, { URL: TEMPLATE }, "web").map((one) => one.value)).toEqual(["page"]);
    expect(nodeChoices(all, {}, "").map((one) => one.value)).toEqual(["ask", "page"]);
  });

  it("offer only fields that a person sees", () => {
    expect(fieldChoices(TEMPLATE, "").map((one) => one.value)).toEqual(["url"]);
  });

  it("put in one token: a step's is open for a dot, a field's is finished", () => {
    const node = mentionAt("see @pa", 7, NODES);
    expect(node && mentioned("see @pa", node, "page")).toEqual({ text: "see 'page'", caret: 10 });
    const field = mentionAt("see 'page'.u", 12, NODES);
    expect(field && mentioned("see 'page'.u", field, "url")).toEqual({ text: "see 'page.url' ", caret: 15 });
  });
});
