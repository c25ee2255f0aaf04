import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { FlowiseServer } from "@/api/queries/codev";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { FlowiseSection } from "./FlowiseSection";

vi.setConfig({ testTimeout: 20_000 });

const OPERATOR: FlowiseServer = {
  id: "central",
  endpoint: "https://central.example",
  source: "operator",
  has_key: true,
  key_variable: "",
};
const ME = { permissions: { tenant: ["variables.manage"], every_space: [], spaces: [] }, user: {}, spaces: [] };

it("a Flowise server is added with its key, tested and removed, and an operator's stays", async () => {
  let servers = [OPERATOR];
  const added = vi.fn();
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json(ME)),
    http.get("*/api/v1/codev/instances", () => HttpResponse.json({ items: servers })),
    http.post("*/api/v1/codev/instances", async ({ request }) => {
      added(await request.json());
      const made = { ...OPERATOR, id: "team", endpoint: "https://team.example", source: "tenant" as const };
      servers = [...servers, made];
      return HttpResponse.json(made, { status: 201 });
    }),
    http.post("*/api/v1/codev/instances/team/test", () => HttpResponse.json({ version: "3.1.4", nodes: 212, ms: 40 })),
    http.delete("*/api/v1/codev/instances/team", () => {
      servers = [OPERATOR];
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<FlowiseSection />);
  const central = (await screen.findByText("central")).closest("li") as HTMLElement;
  expect(within(central).queryByRole("button", { name: "Delete central" })).toBeNull();
  await user.click(await screen.findByRole("button", { name: "Add a server" }));
  await user.type(screen.getByLabelText(/Name/), "team");
  await user.type(screen.getByLabelText(/Address/), "https://team.example");
  await user.type(screen.getByLabelText("API key"), "flowise-key-1");
  await user.click(screen.getByRole("button", { name: "Add" }));
  const row = (await screen.findByText("team")).closest("li") as HTMLElement;
  const sent = { id: "team", endpoint: "https://team.example", api_key: "flowise-key-1", key_variable: "" };
  expect(added).toHaveBeenCalledExactlyOnceWith(sent);
  expect(document.documentElement.outerHTML).not.toContain("flowise-key-1");
  await user.click(within(row).getByRole("button", { name: "Test" }));
  expect(await screen.findByText("Flowise 3.1.4 responded in 40 ms with 212 components.")).toBeInTheDocument();
  await user.click(within(row).getByRole("button", { name: "Delete team" }));
  await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByText("team")).toBeNull());
});

it("who may not add one is told who does, and not to add one", async () => {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ ...ME, permissions: { ...ME.permissions, tenant: [] } })),
    http.get("*/api/v1/codev/instances", () => HttpResponse.json({ items: [] })),
  );
  renderStudio(<FlowiseSection />);
  expect(await screen.findByText(/An administrator of your organisation can make changes/)).toBeVisible();
  expect(await screen.findByText("No Flowise server yet")).toBeVisible();
  expect(screen.queryByText(/Add one with its address/)).toBeNull();
});
