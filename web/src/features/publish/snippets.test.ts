import { describe, expect, it } from "vitest";
import type { FormField } from "@/api/types";
import { curl, exampleBody, mcp, openai, python, typescript } from "./snippets";

const field = (id: string, type: FormField["type"], more: Partial<FormField> = {}) => ({ id, type, ...more });
const called = { origin: "https://flows.example.org", flowId: "f-1" };
const form = [
  field("namn", "text", { label: 'Åsa\'s "name"' }),
  field("antal", "number"),
  field("slag", "select", { options: ["a", "b"] }),
  field("bild", "image"),
];

describe("the body of a call", () => {
  it("has an answer for each field, of its type", () => {
    expect(exampleBody(form)).toEqual({
      version: "published",
      form_data: { namn: 'Åsa\'s "name"', antal: 1, slag: "a", bild: "FILE_ID" },
      wait: true,
    });
    expect(exampleBody([])).toMatchObject({ text: "Hello" });
  });
});

describe("snippets", () => {
  const all = [curl, python, typescript].map((make) => make({ ...called, form }));

  it("name the real address and a key that is none", () => {
    for (const text of all) {
      expect(text).toContain("https://flows.example.org/api/v1/flows/f-1/runs");
      expect(text).toContain("hg_YOUR_KEY");
    }
    expect(openai({ ...called, form })).toContain('base_url="https://flows.example.org/v1"');
    expect(JSON.parse(mcp({ ...called, form })).mcpServers.headgate.url).toBe("https://flows.example.org/mcp");
  });

  it("survive quotes in labels", () => {
    const [shell, py] = all as [string, string];
    expect(shell).toContain("Åsa'\\''s");
    expect(py).toContain('"namn": "Åsa\'s \\"name\\"",');
    expect(py).toContain('"wait": True,');
  });

  it("say how a file is sent only where one is asked for", () => {
    expect(all[0]).toContain("-F file=@");
    expect(curl({ ...called, form: [] })).not.toContain("-F file=@");
  });
});
