import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { issueOf } from "./issues";
import { ListEditor } from "./ListEditor";

function Editor() {
  const [value, setValue] = useState<string[]>([]);
  return (
    <>
      <ListEditor label="Labels" value={value} onChange={setValue} />
      <output>{JSON.stringify(value)}</output>
    </>
  );
}

it("is filled from the keyboard: Enter adds the next entry", async () => {
  renderStudio(<Editor />);
  await userEvent.type(screen.getByRole("textbox", { name: "Entry 1" }), "billing{Enter}");
  expect(screen.getByRole("textbox", { name: "Entry 2" })).toHaveFocus();
  await userEvent.keyboard("fault");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect(screen.getByRole("textbox", { name: "Entry 3" })).toHaveFocus();
  await userEvent.click(screen.getByRole("textbox", { name: "Entry 1" }));
  await userEvent.keyboard("{Enter}order");
  expect(screen.getByRole("status")).toHaveTextContent('["billing","order","fault",""]');
});

it("a value that is missing is said in the words of the page, another fault as the server says it", () => {
  const missing = { code: "missing_value", message: "node 'a' requires 'b'", node_id: "a", field: "b" };
  expect(issueOf([missing], "a", "b", "Fill it in.")).toBe("Fill it in.");
  expect(issueOf([missing], "a", "b")).toBe("node 'a' requires 'b'");
  expect(issueOf([{ ...missing, code: "bad_value" }], "a", "b", "Fill it in.")).toBe("node 'a' requires 'b'");
  expect(issueOf([missing], "a", "c", "Fill it in.")).toBeNull();
});
