import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { ApprovalFormControl, fieldsOf } from "./ApprovalFormControl";

it("reads texts as questions of text fields", () => {
  expect(fieldsOf(["Cost centre", { id: "seen", type: "checkbox" }, 3])).toEqual([
    { id: "cost_centre", label: "Cost centre", type: "text" },
    { id: "seen", type: "checkbox" },
  ]);
});

it("offers what an approval can ask, and stores fields without their defaults", async () => {
  const onChange = vi.fn();
  const field = { name: "questions", kind: "json" } as never;
  renderStudio(<ApprovalFormControl field={field} label="Form" value={["Cost centre"]} onChange={onChange} />);
  await userEvent.click(screen.getByRole("combobox"));
  const types = (await screen.findAllByRole("option")).map((option) => option.textContent);
  expect(types).toContain("Several choices");
  expect(types).not.toContain("File");
  await userEvent.click(screen.getByRole("option", { name: "Several choices" }));
  expect(onChange).toHaveBeenLastCalledWith([
    { id: "cost_centre", label: "Cost centre", type: "multiselect", options: ["Choice 1"] },
  ]);
  await userEvent.click(screen.getByRole("button", { name: "Remove Cost centre" }));
  expect(onChange).toHaveBeenLastCalledWith(undefined);
});
