import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { EditOutput } from "./EditOutput";

// The editor needs the geometry of a browser.
vi.mock("@/components/code", () => ({
  CodeEditor: ({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) => (
    <textarea aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
  ),
}));

test("a changed output is pinned: texts as they are, everything else as JSON that must be valid", async () => {
  const user = userEvent.setup();
  const pinned: unknown[] = [];
  const outputs = { text: '"Hello"', rows: [{ a: 1 }] };
  renderStudio(
    <EditOutput
      title="Output of Ask"
      outputs={outputs}
      texts={new Set(["text"])}
      onClose={() => {}}
      onPin={(next) => pinned.push(next)}
    />,
  );
  const rows = await screen.findByRole("textbox", { name: /rows/ });
  await user.click(rows);
  await user.clear(rows);
  await user.keyboard("[[{{");
  await waitFor(() => expect(screen.getByRole("button", { name: "Pin changed output" })).toBeDisabled());
  expect(screen.getByRole("status")).toHaveTextContent("Line 1 is not valid JSON.");
  await user.clear(rows);
  await user.keyboard("42");
  await user.click(screen.getByRole("button", { name: "Pin changed output" }));
  expect(pinned).toEqual([{ text: '"Hello"', rows: 42 }]);
});
