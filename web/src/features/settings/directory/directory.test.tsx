import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Directory, DirectoryGroup } from "@/api/queries/directory";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { DirectorySection } from "./DirectorySection";

vi.setConfig({ testTimeout: 20_000 });

const TOKEN = {
  prefix: "hg_scim_ab12cd34",
  networks: null,
  created_at: "2026-11-01T00:00:00Z",
  last_used_at: null,
  last_used_address: null,
};
const NONE: Directory = {
  address: "https://studio.example.org/scim/v2",
  token: null,
  last_change_at: null,
  users: 0,
  groups: 0,
};
const SPACE = { id: "s1", name: "Research", owner_user_id: null, role: null, created_at: "2026-11-01T00:00:00Z" };

function serve(directory: () => Directory, groups: () => DirectoryGroup[] = () => []) {
  server.use(
    http.get("*/api/v1/directory", () => HttpResponse.json(directory())),
    http.get("*/api/v1/directory/groups", () => HttpResponse.json({ items: groups(), next_cursor: null })),
    http.get("*/api/v1/spaces", () => HttpResponse.json({ items: [SPACE], next_cursor: null })),
  );
}

it("connects a directory, shows the token this once, replaces and revokes it", async () => {
  let directory = NONE;
  const sent = vi.fn();
  serve(() => directory);
  server.use(
    http.post("*/api/v1/directory/token", async ({ request }) => {
      sent(await request.json());
      directory = { ...directory, token: TOKEN };
      return HttpResponse.json({ ...TOKEN, token: "hg_scim_shown-this-once" }, { status: 201 });
    }),
    http.delete("*/api/v1/directory/token", () => {
      directory = { ...directory, token: null, users: 2 };
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<DirectorySection />);
  await user.click(await screen.findByRole("button", { name: "Connect a directory" }));
  await user.type(screen.getByLabelText("Only from these networks"), "192.0.2.0/24{Enter}");
  expect(await screen.findByTestId("new-token")).toHaveTextContent("hg_scim_shown-this-once");
  expect(sent).toHaveBeenCalledExactlyOnceWith({ networks: ["192.0.2.0/24"] });
  await user.click(screen.getByRole("button", { name: "I have saved it" }));
  expect(await screen.findByText("https://studio.example.org/scim/v2")).toBeVisible();
  expect(screen.queryByText(/shown-this-once/)).toBeNull();
  await user.click(screen.getByRole("button", { name: "Replace the token" }));
  expect(await screen.findByText(/previous token stops working at once/)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.click(screen.getByRole("button", { name: "Disconnect" }));
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Disconnect" }));
  expect(await screen.findByText("None: the identity provider cannot connect.")).toBeVisible();
  expect(screen.getByRole("button", { name: "Create a token" })).toBeVisible();
});

it("gives a group a role in a space, and removes it", async () => {
  const group: DirectoryGroup = { id: "g1", name: "Analysts", members: 3, roles: [] };
  let roles: DirectoryGroup["roles"] = [];
  const sent = vi.fn();
  serve(
    () => ({ ...NONE, token: TOKEN, users: 3, groups: 1 }),
    () => [{ ...group, roles }],
  );
  server.use(
    http.put("*/api/v1/directory/groups/g1/roles/s1", async ({ request }) => {
      sent(await request.json());
      roles = [{ space_id: "s1", space_name: "Research", role: "editor" }];
      return HttpResponse.json(roles[0]);
    }),
    http.delete("*/api/v1/directory/groups/g1/roles/s1", () => {
      roles = [];
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<DirectorySection />);
  expect(await screen.findByText("3 members")).toBeVisible();
  expect(screen.getByText("Grants no role yet.")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Add a role for Analysts" }));
  const form = screen.getByRole("form", { name: "Add a role for Analysts" });
  expect(within(form).getByRole("button", { name: "Save" })).toBeDisabled();
  await user.click(within(form).getByRole("combobox", { name: "Space" }));
  await user.click(await screen.findByRole("option", { name: "Research" }));
  await user.click(within(form).getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Editor in Research")).toBeVisible();
  expect(sent).toHaveBeenCalledExactlyOnceWith({ role: "editor" });
  await user.click(screen.getByRole("button", { name: "Remove Editor in Research from Analysts" }));
  await waitFor(() => expect(screen.getByText("Grants no role yet.")).toBeVisible());
});
