import { describe, expect, it } from "vitest";
import type { SayCodev } from "../texts";
import en from "../texts/en";
import cards from "../texts/en.cards";
import { writeWords } from "./written";

const TEXTS: Record<string, string> = { ...en, ...cards };
const say = ((key: string, values: Record<string, unknown> = {}) =>
  (TEXTS[key] ?? TEXTS[`${key}_${values.count === 1 ? "one" : "other"}`] ?? key).replace(/\{\{(\w+)\}\}/g, (_, name) =>
    String(values[name]),
  )) as SayCodev;

describe("what a write did", () => {
  it.each([
    ["made 'Greeting' with 3 nodes", "Made “Greeting” with 3 steps"],
    ["made 'Greeting' with 1 nodes", "Made “Greeting” with 1 step"],
    [`~ node 'words' params.template: "Hi" → "Hello; - node"`, `Changed: words template: "Hi" → "Hello; - node"`],
    [
      "+ node 'brief' (LanguageModel); - edge a.text → b.text (and 3 more)",
      "Added: brief (LanguageModel); Removed: a.text → b.text (and 3 more)",
    ],
    ["+ llm_0: ChatOpenAI", "Added: llm_0: ChatOpenAI"],
    ["Taken back: the flow is gone.", "Rolled back: the flow is removed"],
    ["Taken back: the flow is what it was.", "Rolled back: the flow is what it was before"],
    ["wrote it anew", "Wrote it anew"],
  ])("%s is said for people", (summary, said) => {
    expect(writeWords(say, summary)).toBe(said);
  });
});
