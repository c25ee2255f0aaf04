import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Person } from "@/api/queries/people";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ServiceAccounts } from "./ServiceAccounts";

vi.setConfig({ testTimeout: 20_000 });

const BOT: Person = {
  id: "b0",
  kind: "service",
  name: "nightly-import",
  email: null,
  role: "member",
  active: true,
  can_sign_in: false,
  created_at: "2026-01-01T00:00:00Z",
  last_sign_in_at: null,
};

it("a service account is created, gets a key that is shown once, and is deactivated", async () => {
  let accounts: Person[] = [];
  const asked: [string, unknown][] = [];
  server.use(
    http.get("*/api/v1/users", () => HttpResponse.json({ items: accounts, next_cursor: null })),
    http.post("*/api/v1/users/service-accounts", async ({ request }) => {
      asked.push(["create", await request.json()]);
      accounts = [BOT];
      return HttpResponse.json(BOT, { status: 201 });
    }),
    http.get("*/api/v1/users/:id/api-keys", ({ params }) => {
      asked.push(["keys", params.id]);
      return HttpResponse.json({ items: [], next_cursor: null });
    }),
    http.post("*/api/v1/users/:id/api-keys", ({ params }) => {
      asked.push(["key", params.id]);
      return HttpResponse.json({ key: "hg_secret" }, { status: 201 });
    }),
    http.patch("*/api/v1/users/b0", async ({ request }) => {
      asked.push(["change", await request.json()]);
      return HttpResponse.json({ ...BOT, active: false });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<ServiceAccounts />);
  await screen.findByText("No service accounts.");
  await user.click(screen.getByRole("button", { name: "New service account" }));
  const dialog = await screen.findByRole("dialog");
  await user.type(within(dialog).getByLabelText(/Name/), "nightly-import");
  await user.click(within(dialog).getByRole("button", { name: "New service account" }));
  await user.click(await screen.findByRole("button", { name: "More for nightly-import" }));
  await user.click(await screen.findByRole("menuitem", { name: "API keys" }));
  await screen.findByText("It has no API keys. Triggers that it owns need none.");
  await user.click(screen.getByRole("button", { name: "Create an API key" }));
  await user.type(await screen.findByLabelText(/Name/), "cron");
  await user.click(screen.getByRole("button", { name: "Create an API key" }));
  expect(await screen.findByTestId("new-key")).toHaveTextContent("hg_secret");
  await user.keyboard("{Escape}{Escape}");
  await user.click(await screen.findByRole("button", { name: "More for nightly-import" }));
  await user.click(await screen.findByRole("menuitem", { name: "Deactivate" }));
  await waitFor(() =>
    expect(asked.filter(([what]) => what !== "keys")).toEqual([
      ["create", { name: "nightly-import", role: "member" }],
      ["key", "b0"],
      ["change", { active: false }],
    ]),
  );
  expect(asked.find(([what]) => what === "keys")).toEqual(["keys", "b0"]);
});
