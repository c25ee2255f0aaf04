import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NamedConnections } from "./NamedConnections";

const SMTP = { id: "smtp", label: "SMTP server", description: "", category: "mail", fields: [] };

it("names each connection with its kind, and where one is added", async () => {
  server.use(http.get("*/api/v1/connections/kinds", () => HttpResponse.json({ items: [SMTP] })));
  const root = createRootRoute();
  const needed = [
    { name: "company-api", kinds: [] },
    { name: "office-mail", kinds: ["smtp"] },
  ];
  const pages = [
    createRoute({ getParentRoute: () => root, path: "/", component: () => <NamedConnections needed={needed} /> }),
    createRoute({ getParentRoute: () => root, path: "/settings/{-$section}", component: () => null }),
  ];
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />);
  expect(await screen.findByText(/Connection “office-mail” \(SMTP server\)/)).toBeVisible();
  expect(screen.getByText(/Connection “company-api” \(for HTTP requests\)/)).toBeVisible();
  expect(screen.getAllByRole("link", { name: "Add a connection" })[0]).toHaveAttribute("href", "/settings/connections");
});
