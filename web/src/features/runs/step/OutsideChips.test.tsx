import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { OutsideChips } from "./OutsideChips";

const SOURCES = [
  { kind: "web", name: "example.org" },
  { kind: "file", name: "cv.pdf" },
  { kind: "visitor", name: "" },
  { kind: "server", name: "weather" },
  { kind: "unheard-of", name: "x" },
];

describe("OutsideChips", () => {
  it("names the sources in words, the first three at once", () => {
    render(<OutsideChips sources={SOURCES} />);
    const chip = screen.getByText("External content: example.org, file cv.pdf, a visitor +2");
    expect(chip.parentElement?.title).toContain("MCP server weather\nmore sources");
  });

  it("shows nothing where nothing came from outside", () => {
    const { container } = render(<OutsideChips sources={[]} />);
    expect(container.textContent).toBe("");
  });
});
