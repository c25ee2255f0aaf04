import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RunOut } from "@/api/types";
import { useRequests } from "@/lib/requests";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { fromRun } from "../model/live";
import { RunNow } from "./RunNow";

const me = vi.fn();

beforeEach(() => serve(["flows.edit"]));

function serve(permissions: string[]) {
  const spaces = [{ space_id: "space-1", permissions }];
  server.use(
    http.get("*/api/v1/flow-runs/run-1/cost", () => HttpResponse.json({ total: { usd: 0 } })),
    http.get("*/api/v1/me", () => {
      me();
      return HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces } });
    }),
  );
}

const BAD = {
  step_id: "bad",
  type: "Python",
  label: "Divide",
  status: "failed",
  order: 1,
  error: { message: "Division by zero." },
};

function show(status: RunOut["status"], steps: object[] = []) {
  const run = {
    id: "run-1",
    flow_id: "flow-1",
    status,
    steps,
    output: { text: "Hi" },
    error: { message: "Division by zero." },
  };
  const out = run as unknown as RunOut;
  const followed = { run: out, live: fromRun(out), connection: "live" as const, error: null };
  const root = createRootRoute({ component: () => <RunNow followed={followed} onStep={() => undefined} /> });
  const tests = createRoute({ getParentRoute: () => root, path: "/flows/$flowId/tests" });
  const page = createRoute({ getParentRoute: () => root, path: "/flows/$flowId/runs/$runId" });
  const router = createRouter({
    routeTree: root.addChildren([tests, page]),
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  const nodes = [{ id: "bad", type: "Python" }] as never;
  return renderStudio(<RouterProvider router={router as never} />, { flow: { nodes } });
}

const answeredBy = (default_provider: string) =>
  server.use(
    http.get("*/api/v1/agentic/check-config", () => HttpResponse.json({ configured: true, default_provider })),
  );

describe("a run in the panel", () => {
  it("that is stopped says before which step and continues as asked", async () => {
    const asked: unknown[] = [];
    server.use(
      http.post("*/api/v1/flow-runs/run-1/breakpoints/continue", async ({ request }) => {
        asked.push(...Object.values((await request.json()) as object));
        return HttpResponse.json({ id: "run-1", status: "running", changed: true, steps: ["bad"] });
      }),
    );
    const step = { ...BAD, status: "waiting", error: null, waiting: { reason: "breakpoint", until: null } };
    show("waiting", [step]);
    expect(await screen.findByText("Stopped before Divide")).toBeVisible();
    for (const name of ["Continue", "Next step", "Continue without stops"]) {
      await waitFor(() => expect(screen.getByRole("button", { name })).toBeEnabled());
      screen.getByRole("button", { name }).click();
      await waitFor(() => expect(screen.getByRole("button", { name })).toBeEnabled());
    }
    await waitFor(() => expect(asked).toEqual(["breakpoints", "next", "end"]));
  });

  it("can be kept as a test when it is over", async () => {
    show("completed");
    const link = await screen.findByRole("link", { name: "Save as test" });
    expect(link).toHaveAttribute("href", "/flows/flow-1/tests?from=run-1");
  });

  it("is kept by nobody who may not change the flow", async () => {
    serve(["runs.start"]);
    show("completed");
    expect(await screen.findByRole("link", { name: "Open the run" })).toBeInTheDocument();
    await waitFor(() => expect(me).toHaveBeenCalled());
    expect(screen.queryByRole("link", { name: "Save as test" })).toBeNull();
  });

  it("names the step that failed and leads to it, and to the assistant", async () => {
    answeredBy("mine");
    show("failed", [BAD]);
    expect(await screen.findByText("“Divide” failed")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Open the step" })).toBeInTheDocument();
    (await screen.findByRole("button", { name: "Fix with the assistant" })).click();
    expect(useRequests.getState().ask).toMatchObject({
      text: "The step 'bad' failed in the last run: Division by zero. Fix it.",
      send: false,
    });
  });

  it("does not promise what only a model can do", async () => {
    answeredBy("offline");
    show("failed", [BAD]);
    expect(await screen.findByRole("button", { name: "Open the step" })).toBeInTheDocument();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(screen.queryByRole("button", { name: "Fix with the assistant" })).toBeNull();
  });

  it("leads to its page alone while it goes on", async () => {
    show("running");
    expect(await screen.findByRole("link", { name: "Open the run" })).toBeInTheDocument();
    expect(screen.queryByRole("link", { name: "Save as test" })).toBeNull();
  });
});
