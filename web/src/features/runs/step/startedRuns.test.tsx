import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { StartedRuns } from "./StartedRuns";

const run = (number: number, status: string) => ({
  id: `run-${number}`,
  flow_id: "flow-2",
  status,
  parent_iteration: number,
  created_at: "2026-01-01T00:00:00Z",
  text: `Item ${number}`,
  error: status === "failed" ? { code: "x", message: "No JSON" } : null,
  ms: 5,
});

it("lists the runs of a step with their numbers, and those that failed", async () => {
  const asked: URLSearchParams[] = [];
  server.use(
    http.get("*/api/v1/flow-runs", ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked.push(query);
      const runs = [run(1, "failed"), run(0, "completed")];
      const items = query.get("status") === "failed" ? runs.slice(0, 1) : runs;
      return HttpResponse.json({ items, next_cursor: null });
    }),
  );
  const counts = { step_id: "each", total: 1000, started: 2, completed: 1, failed: 1, cancelled: 0, active: 0 };
  const root = createRootRoute({ component: () => <StartedRuns runId="run-9" counts={counts} /> });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  renderStudio(<RouterProvider router={router as never} />);
  const list = await screen.findByRole("list", { name: "Runs" });
  expect(
    within(list)
      .getAllByRole("link")
      .map((link) => link.getAttribute("href")),
  ).toEqual(["/flows/flow-2/runs/run-1", "/flows/flow-2/runs/run-0"]);
  expect(screen.getByText("1 of 1,000 completed, 1 failed")).toBeDefined();
  expect(within(list).getByText("No JSON")).toBeDefined();
  await userEvent.click(screen.getByRole("radio", { name: "Failed" }));
  await screen.findByText("No JSON");
  expect(asked.map((query) => [query.get("parent_run_id"), query.get("parent_step_id"), query.get("status")])).toEqual([
    ["run-9", "each", null],
    ["run-9", "each", "failed"],
  ]);
});
