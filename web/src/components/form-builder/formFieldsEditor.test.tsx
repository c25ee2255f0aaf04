import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import type { FormField } from "@/api/types";
import { renderStudio } from "@/testing/render";
import { FormFieldsEditor } from "./FormFieldsEditor";

let kept: readonly FormField[] = [];

function Editor({ form }: { form: FormField[] }) {
  const [now, setNow] = useState(form);
  kept = now;
  return <FormFieldsEditor form={now} use="run" onChange={setNow} onUndo={() => undefined} />;
}

const names = () => kept.map((one) => one.id);

it("names a new question by what it asks, and keeps the focus where it is", async () => {
  renderStudio(<Editor form={[{ id: "sender", label: "Sender" }]} />);
  await userEvent.click(screen.getByRole("button", { name: "Add field" }));
  expect(screen.getByRole("textbox", { name: "Question 2" })).toHaveFocus();
  await userEvent.keyboard("Due date{Tab}");
  expect(names()).toEqual(["sender", "due_date"]);
  expect(screen.getByRole("combobox", { name: "Answer type: Due date" })).toHaveFocus();
  await userEvent.click(screen.getByRole("button", { name: "Add field" }));
  await userEvent.keyboard("Sender{Tab}");
  expect(names()).toEqual(["sender", "due_date", "sender_2"]);
});

it("leaves a name alone that steps may refer to", async () => {
  renderStudio(<Editor form={[{ id: "new_field", label: "Amount" }]} />);
  await userEvent.type(screen.getByRole("textbox", { name: "Question 1" }), " in kronor{Tab}");
  expect(kept).toMatchObject([{ id: "new_field", label: "Amount in kronor" }]);
  await userEvent.click(screen.getByRole("button", { name: "Add field" }));
  await userEvent.keyboard("{Tab}");
  expect(names()).toEqual(["new_field", "new_field_2"]);
});

it("keeps the options of a question open while it is renamed", async () => {
  renderStudio(<Editor form={[{ id: "item", label: "Item" }]} />);
  await userEvent.click(screen.getByRole("button", { name: "More options for Item" }));
  await userEvent.clear(screen.getByRole("textbox", { name: "Name" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "thing{Tab}");
  expect(names()).toEqual(["thing"]);
  expect(screen.getByRole("textbox", { name: "Name" })).toBeVisible();
});
