import { describe, expect, it } from "vitest";
import { inLanguage } from "./components";

const WORDS: Record<string, string> = { Result: "Resultat", "What came.": "Det som kom.", Text: "Text" };
const translate = (english: string) => WORDS[english] ?? english;
const COMPONENT = {
  type: "Result",
  label: "Result",
  description: "What came.",
  category: "text",
  keywords: ["outcome"],
  fields: [{ name: "a", kind: "text" as const, label: "Text", help: "What came." }],
  outputs: [{ name: "b", type: "Text" as const, label: "Result" }],
};

describe("a component in the reader's language", () => {
  it("has its names and help translated, and is found by its English name", () => {
    const shown = inLanguage(COMPONENT, translate);
    expect([shown.label, shown.description]).toEqual(["Resultat", "Det som kom."]);
    expect(shown.fields?.[0]).toMatchObject({ name: "a", label: "Text", help: "Det som kom." });
    expect(shown.outputs?.[0]).toMatchObject({ name: "b", label: "Resultat" });
    expect(shown.keywords).toEqual(["outcome", "Result"]);
  });

  it("that somebody made is called as they called it", () => {
    const own = { ...COMPONENT, code: "class Result: ..." };
    expect(inLanguage(own, translate)).toBe(own);
  });

  it("whose name is the same in both has its help translated all the same", () => {
    const same = { ...COMPONENT, label: "Text" };
    expect(inLanguage(same, translate)).toMatchObject({
      label: "Text",
      description: "Det som kom.",
      keywords: ["outcome"],
    });
  });
});
