import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { TriggerDialog } from "./TriggerDialog";

it("shows the address of a new form", async () => {
  server.use(
    http.get("*/api/v1/flows/f1", () => HttpResponse.json({ definition: { form: [] } })),
    http.post("*/api/v1/triggers/preview", () => HttpResponse.json({ next: [] })),
    http.post("*/api/v1/flows/f1/triggers", () =>
      HttpResponse.json({ id: "t1", kind: "form", path: "/forms/abc", secret: null }, { status: 201 }),
    ),
  );
  const onClose = vi.fn();
  renderStudio(<TriggerDialog flowId="f1" spaceId="s1" onClose={onClose} />);
  await userEvent.type(screen.getByLabelText(/Name/), "Leave");
  await userEvent.click(screen.getByRole("combobox", { name: "Starts" }));
  await userEvent.click(screen.getByRole("option", { name: "When its form is submitted" }));
  await userEvent.click(screen.getByRole("button", { name: "Add trigger" }));
  expect(await screen.findByText(`${window.location.origin}/forms/abc`)).toBeVisible();
  expect(onClose).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Done" }));
  expect(onClose).toHaveBeenCalled();
});
