import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { FlowOwner } from "./FlowOwner";

/** The owner of a flow, for Ada with these permissions in its space, where the organisation has Ada and Grace. */
function show(owner_user_id: string | null, people = 200, permissions: string[] = []) {
  const items = [
    { id: "ada", name: "Ada", email: "ada@example.org" },
    { id: "grace", name: "", email: "grace@example.org" },
  ];
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({
        user: { id: "ada" },
        permissions: { tenant: [], every_space: [], spaces: [{ space_id: flowOut({}).space_id, permissions }] },
        spaces: [],
      }),
    ),
    http.get("*/api/v1/flows/flow-1", () => HttpResponse.json({ ...flowOut({}), owner_user_id })),
    http.get("*/api/v1/users", () => HttpResponse.json({ items, title: "Away", status: people }, { status: people })),
  );
  renderStudio(<FlowOwner />);
}

it("is named, and is you where it is you", async () => {
  show("ada");
  expect(await screen.findByText("Ada (you)")).toBeInTheDocument();
});

it("has an address where there is no name", async () => {
  show("grace");
  expect(await screen.findByText("grace@example.org")).toBeInTheDocument();
});

it("is nobody where the owner was deleted", async () => {
  show(null);
  expect(await screen.findByText("No owner")).toBeInTheDocument();
});

it("is not guessed where the users cannot be read", async () => {
  show("ada", 503);
  expect(await screen.findByText("The owner could not be loaded")).toBeInTheDocument();
});

/** Members of the space, and the owners that the server was sent. */
function withMembers() {
  const owners: unknown[] = [];
  const member = (user_id: string, role: string, active = true) => ({
    user_id,
    name: user_id,
    email: null,
    active,
    role,
  });
  const items = [
    member("ada", "editor"),
    member("Grace", "publisher"),
    member("Vera", "viewer"),
    member("Gone", "editor", false),
  ];
  server.use(
    http.get("*/api/v1/spaces/*/members", () => HttpResponse.json({ items })),
    http.put("*/api/v1/flows/flow-1/owner", async ({ request }) => {
      owners.push(await request.json());
      return HttpResponse.json({ ...flowOut({}), owner_user_id: "Grace" });
    }),
  );
  return owners;
}

it("is changed by the owner to another member who can edit flows", async () => {
  const owners = withMembers();
  show("ada", 200, ["flows.edit"]);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("combobox", { name: /Owner/ }));
  expect((await screen.findAllByRole("option")).map(({ textContent }) => textContent)).toEqual(["Ada (you)", "Grace"]);
  await user.click(screen.getByRole("option", { name: "Grace" }));
  await waitFor(() => expect(owners).toEqual([{ user_id: "Grace" }]));
});

it("is chosen by those who manage the space where there is none", async () => {
  withMembers();
  show(null, 200, ["flows.edit", "spaces.manage"]);
  expect(await screen.findByRole("combobox", { name: /Owner/ })).toHaveTextContent("No owner");
});

it("is only shown to other editors", async () => {
  show("grace", 200, ["flows.edit"]);
  expect(await screen.findByText("grace@example.org")).toBeInTheDocument();
  expect(screen.queryByRole("combobox")).not.toBeInTheDocument();
});
