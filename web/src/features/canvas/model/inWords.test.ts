import { describe, expect, it } from "vitest";
import { inWords } from "./inWords";

describe("a preview in words", () => {
  it.each([' She said: "no" ', "[Docs](https://docs.example)", "{name}, hello", "[x] done"])(
    "leaves %s as it is",
    (text) => expect(inWords(text)).toBe(text.trim()),
  );

  it.each([
    ['{"claimant":"Ann","amount":3,"paid":true,"by":null}', "claimant: Ann, amount: 3, paid: true, by: null"],
    ['{"columns":["category","total"],"rows":[["a\\nb",3],["c', "columns: category, total, rows: a b, 3, c"],
    ['{"url":"https://a.example/x,y"}', "url: https://a.example/x,y"],
    ["[]", ""],
    ["| country | price |\n| --- | ---: |\n| Norway | 5.0 |", "country price Norway 5.0"],
    ["| country | price | | --- | --- | | Nor", "country price Nor"],
  ])("has no marks of JSON or of a table: %s", (json, words) => expect(inWords(json)).toBe(words));
});
