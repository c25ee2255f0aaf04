import { describe, expect, it } from "vitest";
import { inWords, unite } from "./search";

const REPORT = { id: "report", title: "Licensrapport", description: "Räknar paketen efter licens", tags: ["licens"] };
const ECHO = { id: "echo", title: "Eko", description: "Säger tillbaka det som sades", tags: ["chatt"] };

describe("the gallery's search", () => {
  it("finds a template by every word as it is shown, whatever its case", () => {
    expect(inWords([REPORT, ECHO], " LICENS paket ")).toEqual([REPORT]);
    expect(inWords([REPORT, ECHO], "chatt")).toEqual([ECHO]);
    expect(inWords([REPORT, ECHO], "chatt licens")).toEqual([]);
  });

  it("adds nothing to a search for nothing", () => expect(inWords([REPORT], "  ")).toEqual([]));

  it("shows each template once, the server's best first", () => {
    expect(unite([ECHO], [REPORT, ECHO])).toEqual([ECHO, REPORT]);
  });
});
