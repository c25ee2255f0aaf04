import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Queue } from "@/api/queries/queue";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { QueuePage } from "./QueuePage";

const AT = "2026-11-28T12:00:00Z";
const GROUP = { space_id: "s1", flow_id: "f1", flow: "Invoices", priority_class: "normal", oldest_at: AT } as const;
const RUN = { space_id: "s1", flow_id: "f1", flow: "Invoices", since: AT, may_change: true, of_step: false } as const;
const QUEUE: Queue = {
  waiting: 7,
  running: 2,
  paused: 1,
  groups: [
    { ...GROUP, reason: "limit", limit: "flow:f1", count: 6 },
    { ...GROUP, reason: null, limit: null, count: 2 },
    { ...GROUP, flow_id: "f2", flow: "Mail", priority_class: "high", reason: "worker", limit: null, count: 1 },
    { ...GROUP, reason: "paused", limit: null, count: 1 },
  ],
  runs: [
    { ...RUN, id: "r1", priority: 0, reason: "limit", limit: "flow:f1", position: 1 },
    { ...RUN, id: "r2", flow: "Mail", priority: 60, reason: "worker", limit: null, position: 4, may_change: false },
  ],
  limits: [
    { name: "flow:f1", kind: "flow", title: "Invoices", flow_id: "f1", most: 2, used: 2, waiting: 6, oldest_at: AT },
    { name: "space:s1", kind: "space", title: "", most: 50, used: 9, waiting: 0, oldest_at: null },
  ],
  workers: 0,
  tenants: [],
  more: false,
};

function renderQueue() {
  const root = createRootRoute();
  const pages = ["/", "/flows/$flowId", "/flows/$flowId/runs", "/settings/{-$section}"].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: path === "/" ? QueuePage : () => null }),
  );
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />);
}

it("shows what waits and why, changes a priority and cancels a run", async () => {
  const prioritized = vi.fn();
  const cancelled = vi.fn();
  server.use(
    http.get("*/api/v1/queue", () => HttpResponse.json(QUEUE)),
    http.get("*/api/v1/spaces", () =>
      HttpResponse.json({ items: [{ id: "s1", name: "Research" }], next_cursor: null }),
    ),
    http.put("*/api/v1/flow-runs/:id/priority", async ({ params, request }) => {
      prioritized(params.id, await request.json());
      return HttpResponse.json({ id: params.id, priority: 50 });
    }),
    http.post("*/api/v1/flow-runs/:id/cancel", ({ params }) => {
      cancelled(params.id);
      return HttpResponse.json({ id: params.id, status: "cancelled", changed: true });
    }),
  );
  renderQueue();
  const reasons = await screen.findByRole("region", { name: "Why runs wait" });
  expect(reasons).toHaveTextContent("A limit is reached6");
  expect(reasons).toHaveTextContent("For a free worker1");
  expect(screen.getByText(/No process takes runs/)).toBeVisible();
  expect(within(screen.getByRole("region", { name: "By flow" })).getByLabelText("Running: 2")).toBeVisible();
  const limits = screen.getByRole("list", { name: "Limits in use" });
  expect(await within(limits).findByText("Runs in the space Research: more are refused")).toBeVisible();
  const change = within(limits).getByRole("link", { name: "Change the limit: Runs of the flow Invoices" });
  expect(change).toHaveAttribute("href", "/flows/f1");
  const runs = screen.getByRole("list", { name: "Waiting runs" });
  expect(runs).toHaveTextContent("Runs of the flow Invoices · ");
  expect(runs).toHaveTextContent("Place 4 of this user’s runs");
  await userEvent.click(within(runs).getByRole("button", { name: "Actions for the run r2" }));
  expect(screen.queryByRole("menuitem", { name: "Cancel run" })).toBeNull();
  await userEvent.keyboard("{Escape}");
  await userEvent.click(within(runs).getByRole("button", { name: "Actions for the run r1" }));
  await userEvent.click(screen.getByRole("menuitem", { name: "Change priority" }));
  const field = screen.getByRole("textbox", { name: "Priority" });
  await userEvent.clear(field);
  await userEvent.type(field, "1.5");
  expect(screen.getByText("Enter a whole number from −100 to 100.")).toBeVisible();
  await userEvent.click(screen.getByRole("radio", { name: "High" }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await vi.waitFor(() => expect(prioritized).toHaveBeenCalledWith("r1", { priority: 50 }));
  await userEvent.click(within(runs).getByRole("button", { name: "Actions for the run r1" }));
  await userEvent.click(screen.getByRole("menuitem", { name: "Cancel run" }));
  await vi.waitFor(() => expect(cancelled).toHaveBeenCalledWith("r1"));
});

it("says that nothing waits", async () => {
  server.use(
    http.get("*/api/v1/queue", () =>
      HttpResponse.json({
        ...QUEUE,
        waiting: 0,
        running: 0,
        paused: 0,
        groups: [],
        runs: [],
        limits: [],
        workers: null,
      }),
    ),
    http.get("*/api/v1/spaces", () => HttpResponse.json({ items: [], next_cursor: null })),
  );
  renderQueue();
  expect(await screen.findByText("Nothing waits and nothing runs")).toBeVisible();
  expect(screen.queryByRole("link", { name: "Processes" })).toBeNull();
});
