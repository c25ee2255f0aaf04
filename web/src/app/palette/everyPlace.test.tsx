import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it } from "vitest";
import { SECTIONS } from "@/features/settings/sections";
import { useSectionCommands } from "@/features/settings/useSectionCommands";
import { usePalette } from "@/lib/commands/commands";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { useCanvasCommandsElsewhere, useViewCommands, VIEWS } from "../flow/header/Views";
import { PLACES } from "../places";
import { createStudioRouter } from "../router";
import { useGeneralCommands } from "../shell/useGeneralCommands";

/** First words of addresses that are no place of the navigation, and why. */
const NO_PLACES = new Map([
  ["flows", "an open flow, reached from the list"],
  ["alerts", "reached from Observe, and by a separate command"],
  ["queue", "reached from Observe, and by a separate command"],
  ["service-levels", "reached from Observe, and by a separate command"],
  ["design", "the patterns of the page, for its developers"],
  ["sign-in", "before anybody is signed in"],
  ["set-password", "before anybody is signed in"],
  ["review", "the public page of a one-time link"],
]);
const RIGHTS = [
  "connections.view",
  "variables.view",
  "mcp_servers.view",
  "assistants.view",
  "workspace.use",
  "directory.manage",
  "keyring.manage",
  "packs.manage",
  "audit.view",
  "quotas.manage",
  "maintenance.run",
  "flows.edit",
];

function Everything() {
  useGeneralCommands();
  useViewCommands("flow-1");
  useCanvasCommandsElsewhere("flow-1");
  const sections = useSectionCommands();
  return <p>{sections.map((command) => command.id).join(" ")}</p>;
}

const offered = () => Object.values(usePalette.getState().sources).flatMap((source) => source());
const ids = () => offered().map((command) => command.id);

describe("the command palette", () => {
  beforeEach(() => {
    server.use(
      http.get("*/api/v1/me", () =>
        HttpResponse.json({
          user: { id: "ada" },
          tenant: { id: "00000000-0000-7000-8000-000000000001" },
          permissions: { tenant: RIGHTS, every_space: RIGHTS, spaces: [] },
          spaces: [],
        }),
      ),
    );
    const root = createRootRoute({ component: Everything });
    const history = createMemoryHistory({ initialEntries: ["/flows/flow-1/overview"] });
    const template = { type: "ChatInput", label: "Chat input", keywords: [] };
    renderStudio(
      <RouterProvider
        router={
          createRouter({
            routeTree: root,
            history,
            notFoundMode: "root",
            defaultNotFoundComponent: Everything,
          }) as never
        }
      />,
      {
        templates: [template as never],
      },
    );
  });

  it("knows every place that the router has", async () => {
    const router = createStudioRouter(new QueryClient());
    const first = new Set(Object.keys(router.routesByPath).map((path) => path.split("/")[1] ?? ""));
    const places = new Set<string>([...PLACES.map((place) => place.id), ...NO_PLACES.keys()]);
    expect([...first].filter((one) => !places.has(one))).toEqual([]);
    const commands = [...PLACES.map((place) => `go.${place.id}`), "go.alerts", "go.queue", "go.service-levels"];
    await waitFor(() => expect(ids()).toEqual(expect.arrayContaining(commands)));
  });

  it("knows every section of the settings", async () => {
    expect(SECTIONS.length).toBeGreaterThan(15);
    const wanted = SECTIONS.map((section) => `settings.${section.id}`).join(" ");
    expect(await screen.findByText(wanted)).toBeVisible();
  });

  it("knows every view of the open flow, and what the canvas does from the other views", async () => {
    await waitFor(() => expect(ids()).toEqual(expect.arrayContaining(VIEWS.map((view) => `flow.view.${view.text}`))));
    expect(ids()).toEqual(expect.arrayContaining(["flow.layout", "flow.add.ChatInput"]));
  });

  it("offers each command once", async () => {
    await waitFor(() => expect(ids().length).toBeGreaterThan(10));
    expect(new Set(ids()).size).toBe(ids().length);
  });
});
