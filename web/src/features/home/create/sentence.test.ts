import { describe, expect, it } from "vitest";
import { nameOfSentence } from "./sentence";

describe("the name of a flow from a sentence", () => {
  it("is the first sentence, with a capital", () => {
    expect(nameOfSentence("  total the   invoices. Then mail them.")).toBe("Total the invoices");
  });
  it("is cut between words where it is long", () => {
    const name = nameOfSentence(
      "read the file with all the invoices of this year, and keep those that are over 10,000",
    );
    expect(name).toBe("Read the file with all the invoices of this year, and keep…");
    expect(name.length).toBeLessThanOrEqual(61);
  });
  it("keeps words that are longer than a name, cut", () =>
    expect(nameOfSentence("å".repeat(90))).toBe(`Å${"å".repeat(59)}…`));
  it("leaves points inside of words alone", () =>
    expect(nameOfSentence("open example.org/a.b now")).toBe("Open example.org/a.b now"));
  it("is empty for nothing", () => expect(nameOfSentence("  \n ")).toBe(""));
});
