import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { renderStudio } from "@/testing/render";
import { TreeView } from "./TreeView";

test("a long text is marked as shortened and opens in full", async () => {
  const text = "0123456789".repeat(500);
  renderStudio(<TreeView value={{ answer: text }} />);
  expect(screen.queryByText(text)).toBeNull();
  expect(screen.getByText(/…$/)).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: /5,000/ }));
  expect(screen.getByText(text)).toBeVisible();
});
