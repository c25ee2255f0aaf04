import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { useTitle } from "./title";

function Titled({ title }: { title: string }) {
  useTitle(title);
  return null;
}

describe("the title of the page", () => {
  it("stays that of the next page when the last one leaves after it", () => {
    const first = render(<Titled title="Flow" />);
    expect(document.title).toBe("Flow · Headgate");
    const second = render(<Titled title="Templates" />);
    first.unmount();
    expect(document.title).toBe("Templates · Headgate");
    second.unmount();
    expect(document.title).toBe("Headgate");
  });
});
