import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Menu } from "./Menu";

function MenuWithDialog() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Menu items={[{ id: "rename", label: "Rename", onSelect: () => setOpen(true) }]}>
        <Button>More</Button>
      </Menu>
      <Dialog open={open} onOpenChange={setOpen} title="Rename">
        <input aria-label="Name" />
      </Dialog>
    </>
  );
}

it("the focus goes back to the menu's button after a dialog that the menu led to", async () => {
  const user = userEvent.setup();
  renderStudio(<MenuWithDialog />);
  screen.getByRole("button", { name: "More" }).focus();
  await user.keyboard("{Enter}");
  await user.keyboard("{Enter}");
  expect(await screen.findByLabelText("Name")).toHaveFocus();
  await user.keyboard("{Escape}");
  expect(await screen.findByRole("button", { name: "More" })).toHaveFocus();
});
