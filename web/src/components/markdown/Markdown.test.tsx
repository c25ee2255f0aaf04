import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Markdown } from "./Markdown";

describe("Markdown of a model", () => {
  it("is drawn without what could act or call home", async () => {
    const text =
      "**bold** [x](javascript:alert(1)) [y](https://example.com) ![pixel](https://evil.test/p.png) <script>alert(1)</script>";
    const { container } = render(<Markdown text={text} />);
    expect((await screen.findByText("bold", {}, { timeout: 4000 })).tagName).toBe("STRONG");
    expect(screen.getByText("x").closest("a")).toBeNull();
    expect(screen.getByRole("link", { name: "y" })).toHaveAttribute("rel", "noopener noreferrer nofollow");
    expect(screen.getByRole("link", { name: "pixel" })).toHaveAttribute("href", "https://evil.test/p.png");
    expect(container.querySelector("img, script")).toBeNull();
  });
});
