import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import type { Trigger } from "@/api/queries/triggers";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { OwnerLine } from "./OwnerLine";

/** The owner of a trigger, for Ada, in an organisation of Ada, Grace and Linus, who was deactivated. Returns changes. */
function show(owner: string | null, { tenant = [] as string[], manages = true } = {}) {
  const changes: unknown[] = [];
  const person = (id: string, active = true) => ({ id, name: id, email: null, active });
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({ user: { id: "ada" }, permissions: { tenant, every_space: [], spaces: [] }, spaces: [] }),
    ),
    http.get("*/api/v1/users", () =>
      HttpResponse.json({ items: [person("ada"), person("grace"), person("linus", false)] }),
    ),
    http.patch("*/api/v1/triggers/t1", async ({ request }) => {
      changes.push(await request.json());
      return HttpResponse.json({});
    }),
  );
  const trigger = { id: "t1", owner_user_id: owner, owner_name: owner } as Trigger;
  renderStudio(<OwnerLine trigger={trigger} manages={manages} />);
  return changes;
}

it("can be taken by who manages the trigger, and be nobody else", async () => {
  const changes = show("grace");
  await userEvent.click(await screen.findByRole("combobox", { name: "Runs as" }));
  expect(screen.getAllByRole("option").map((option) => option.textContent)).toEqual(["ada", "grace"]);
  await userEvent.click(screen.getByRole("option", { name: "ada" }));
  await waitFor(() => expect(changes).toEqual([{ owner_user_id: "ada" }]));
});

it("is any active user for an administrator, also where the owner was deleted", async () => {
  const changes = show(null, { tenant: ["people.manage"] });
  expect(await screen.findByText("The owner was deleted: no occurrence starts a run.")).toBeInTheDocument();
  await userEvent.click(await screen.findByRole("combobox", { name: "Runs as" }));
  await userEvent.click(screen.getByRole("option", { name: "grace" }));
  await waitFor(() => expect(changes).toEqual([{ owner_user_id: "grace" }]));
});

it("is only named for others, and where nobody else can be chosen", async () => {
  show("ada");
  expect(await screen.findByText("Runs as ada")).toBeInTheDocument();
  show("grace", { manages: false });
  expect(await screen.findByText("Runs as grace")).toBeInTheDocument();
  expect(screen.queryByRole("combobox")).toBeNull();
});
