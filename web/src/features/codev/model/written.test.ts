import { describe, expect, it } from "vitest";
import { useCodevTexts } from "../texts";
import { writeWords } from "./written";

describe("what a write did", () => {
  it.each([
    ["made 'Greeting' with 3 nodes", "Created “Greeting” with 3 steps"],
    ["made 'Greeting' with 1 nodes", "Created “Greeting” with 1 step"],
    [`~ node 'words' params.template: "Hi" → "Hello; - node"`, `Changed: words template: "Hi" → "Hello; - node"`],
    [
      "+ node 'brief' (LanguageModel); - edge a.text → b.text (and 3 more)",
      "Added: brief (LanguageModel); Removed: a.text → b.text (and 3 more)",
    ],
    ["+ llm_0: ChatOpenAI", "Added: llm_0: ChatOpenAI"],
    ["Rolled back: the flow is gone.", "Rolled back: the flow was removed"],
    ["Rolled back: the flow is what it was.", "Rolled back: the flow is as it was before"],
    ["wrote it anew", "Wrote it anew"],
  ])("%s is said for people", (summary, said) => {
    expect(writeWords(useCodevTexts.now, summary)).toBe(said);
  });
});
