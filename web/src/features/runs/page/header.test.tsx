import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import type { RunOut } from "@/api/types";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { fromRun } from "../model/live";
import { RunHeader } from "./RunHeader";

/** The head of a failed run of version 3 for somebody with these rights; `read` when the version was asked for. */
function show(permissions: string[], release: number | null, status: RunOut["status"] = "failed") {
  const read = vi.fn();
  const asked = vi.fn();
  const spaces = [{ space_id: "space-1", permissions }];
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces } })),
    http.post("*/api/v1/flow-runs/run-1/:deed", ({ params }) => {
      asked(params.deed);
      return HttpResponse.json({ id: "run-1", status: "paused", changed: true, runs: 1 });
    }),
    http.get("*/api/v1/flow-runs", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/flow-runs/run-1/cost", () => HttpResponse.json({ total: { usd: 0 } })),
    http.get("*/api/v1/flows/flow-1/versions/3", () => {
      read();
      return HttpResponse.json({ version: 3, release, definition: {} });
    }),
  );
  const run = {
    ...{ id: "run-1", flow_id: "flow-1", version: 3, status, steps: [], created_at: "2026-01-01T00:00:00Z" },
  } as unknown as RunOut;
  const head = () => (
    <RunHeader flowId="flow-1" run={run} live={fromRun(run)} onRerun={() => undefined} onCompare={() => undefined} />
  );
  const root = createRootRoute({ component: head });
  const runs = createRoute({ getParentRoute: () => root, path: "/flows/$flowId/runs" });
  const router = createRouter({
    routeTree: root.addChildren([runs]),
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  renderStudio(<RouterProvider router={router as never} />);
  return { read, asked };
}

describe("the head of a run that is not over", () => {
  it("pauses it", async () => {
    const { asked } = show(["runs.view", "runs.start"], 1, "running");
    await userEvent.click(await screen.findByRole("button", { name: "Pause" }));
    await waitFor(() => expect(asked).toHaveBeenCalledWith("pause"));
  });

  it("continues a paused one, which can still be stopped", async () => {
    const { asked } = show(["runs.view", "runs.start"], 1, "paused");
    expect(await screen.findByText("Paused")).toBeInTheDocument();
    expect(await screen.findByRole("button", { name: "Stop" })).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await waitFor(() => expect(asked).toHaveBeenCalledWith("continue"));
  });

  it("lets nobody pause it who may only look", async () => {
    show(["runs.view"], 1, "running");
    expect(await screen.findByRole("button", { name: "Evidence" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Pause" })).toBeNull();
  });
});

describe("the head of a run that is over", () => {
  it("offers to run a published version again to who may only run", async () => {
    show(["runs.view", "runs.start"], 1);
    expect(await screen.findByRole("button", { name: "Rerun…" })).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Resume" })).toBeInTheDocument();
  });

  it("does not offer a version that was only tested, which the server would refuse them", async () => {
    const { read } = show(["runs.view", "runs.start"], null);
    await waitFor(() => expect(read).toHaveBeenCalled());
    expect(await screen.findByRole("button", { name: "Evidence" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Rerun…" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Resume" })).toBeNull();
  });

  it("offers every version to who may test", async () => {
    show(["runs.view", "runs.start", "runs.test"], null);
    expect(await screen.findByRole("button", { name: "Rerun…" })).toBeInTheDocument();
  });
});
