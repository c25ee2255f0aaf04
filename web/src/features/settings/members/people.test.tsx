import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Person } from "@/api/queries/people";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { People } from "./People";

vi.setConfig({ testTimeout: 20_000 });

const ADA: Person = {
  id: "ada",
  kind: "user",
  name: "Ada",
  email: "ada@example.org",
  role: "admin",
  active: true,
  can_sign_in: true,
  created_at: "2026-01-01T00:00:00Z",
  last_sign_in_at: null,
};
const BO: Person = { ...ADA, id: "bo", name: "Bo", email: "bo@example.org", role: "member" };
const LOCAL: Person = { ...ADA, id: "local", name: "local", email: null };
const ME = {
  permissions: { tenant: ["people.manage", "people.view"], every_space: [], spaces: [] },
  signed_in_by: "password",
  user: { id: "ada" },
  spaces: [],
};

it("a user is deleted once that is confirmed, and the local user is not offered to be", async () => {
  let people = [LOCAL, ADA, BO];
  const deleted = vi.fn();
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json(ME)),
    http.get("*/api/v1/users", () => HttpResponse.json({ items: people, next_cursor: null })),
    http.delete("*/api/v1/users/bo", () => {
      deleted();
      people = [LOCAL, ADA];
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<People />);
  await user.click(await screen.findByRole("button", { name: "More for local" }));
  expect(await screen.findByRole("menuitem", { name: "Deactivate" })).toBeInTheDocument();
  expect(screen.queryByRole("menuitem", { name: "Delete user" })).toBeNull();
  await user.keyboard("{Escape}");
  await user.click(await screen.findByRole("button", { name: "More for Bo" }));
  await user.click(await screen.findByRole("menuitem", { name: "Delete user" }));
  const dialog = await screen.findByRole("alertdialog");
  expect(dialog).toHaveTextContent("history keeps the user's id");
  expect(deleted).not.toHaveBeenCalled();
  await user.click(within(dialog).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "More for Bo" })).toBeNull());
  expect(deleted).toHaveBeenCalledOnce();
});
