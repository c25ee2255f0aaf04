import { describe, expect, it } from "vitest";
import { useCodevTexts } from "../texts";
import { changedNodes } from "./changes";
import { stopWords } from "./stopWords";

describe("what a session", () => {
  it("has differences node by node, of our flows and of a Flowise server's, and what is neither as it is", () => {
    const own = [
      "+ node 'words' (PromptTemplate)",
      "+ node 'words' template: Hello: {text}!",
      "~ node 'out' label: a -> b",
    ];
    expect(changedNodes([...own, "+ edge who.text -> words.text", "~ 3 more lines", "said"])).toEqual([
      {
        id: "words",
        type: "PromptTemplate",
        sign: "+",
        changes: [{ sign: "+", name: "template", text: "Hello: {text}!" }],
      },
      { id: "out", type: "", sign: "", changes: [{ sign: "~", name: "label", text: "a -> b" }] },
      {
        id: "",
        type: "",
        sign: "",
        changes: [
          { sign: "+", name: "", text: "who.text -> words.text" },
          { sign: "~", name: "", text: "3 more lines" },
          { sign: "", name: "", text: "said" },
        ],
      },
    ]);
    expect(changedNodes(["+ llm_0: ChatOpenAI", "+ llm_0.temperature: 0.2"])).toEqual([
      { id: "llm_0", type: "ChatOpenAI", sign: "+", changes: [{ sign: "+", name: "temperature", text: "0.2" }] },
    ]);
  });
  it("ended for a reason in the words of the page, and for any other as it was said", () => {
    const t = useCodevTexts.now;
    const tried =
      "2 iterations were tried, the maximum. Last LOGIC: It guessed. 1 write of this session is kept; rolling back undoes what was written.";
    expect(stopWords(t, tried)).toBe(
      "The limit of 2 rounds was reached. Last LOGIC: It guessed. 1 change by this session is in effect. Rolling back undoes it.",
    );
    expect(stopWords(t, "Stopped by Åsa $& Li.")).toBe("Stopped by Åsa $& Li.");
    expect(stopWords(t, "Something else.")).toBe("Something else.");
  });
});
