import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { RunList } from "./RunList";

const found = {
  id: "run-1",
  flow_id: "flow-1",
  version: 1,
  status: "completed",
  text: "The needle",
  created_at: "2026-01-01T00:00:00Z",
  started_at: "2026-01-01T00:00:00Z",
  finished_at: "2026-01-01T00:00:01Z",
  ms: 1000,
  resumes: 0,
  deliveries_failed: 0,
};

function show() {
  server.use(
    http.get("*/api/v1/saved-views", () => HttpResponse.json({ items: [] })),
    http.get("*/api/v1/flow-collections", () => HttpResponse.json({ folders: [], tags: [] })),
  );
  const root = createRootRoute({
    component: () => (
      <>
        <RunList flowId="flow-1" status={undefined} onStatus={() => undefined} />
        <Toasts />
      </>
    ),
  });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  return renderStudio(<RouterProvider router={router as never} />, { flow: {} });
}

describe("a search in runs", () => {
  it("that found nothing in the newest can look further back", async () => {
    const asked: (string | null)[] = [];
    server.use(
      http.get("*/api/v1/flow-runs", ({ request }) => {
        const { searchParams } = new URL(request.url);
        if (!searchParams.get("search")) return HttpResponse.json({ items: [], next_cursor: null });
        asked.push(searchParams.get("cursor"));
        return HttpResponse.json(
          searchParams.get("cursor") ? { items: [found], next_cursor: null } : { items: [], next_cursor: "run-9" },
        );
      }),
    );
    show();
    const user = userEvent.setup();
    await user.type(await screen.findByRole("searchbox", { name: "Search in input and result" }), "needle{Enter}");
    expect(await screen.findByText("No matching runs so far")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Search further back" }));
    expect(await screen.findByText("The needle")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Search further back" })).toBeNull();
    await waitFor(() => expect(asked).toEqual([null, "run-9"]));
  });
});

describe("failed deliveries", () => {
  it("are marked on their run, found by the filter and sent again together", async () => {
    const asked: (string | null)[] = [];
    const sent: unknown[] = [];
    server.use(
      http.get("*/api/v1/flow-runs", ({ request }) => {
        asked.push(new URL(request.url).searchParams.get("deliveries"));
        return HttpResponse.json({ items: [{ ...found, deliveries_failed: 2 }], next_cursor: null });
      }),
      http.post("*/api/v1/deliveries/redeliver", async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ ids: ["a", "b"] });
      }),
    );
    show();
    const user = userEvent.setup();
    expect(await screen.findByText("2 deliveries failed")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Deliver all failed again" })).toBeNull();
    await user.click(screen.getByRole("combobox", { name: "State" }));
    await user.click(await screen.findByRole("option", { name: "Failed deliveries" }));
    await user.click(await screen.findByRole("button", { name: "Deliver all failed again" }));
    await waitFor(() => expect(sent).toEqual([{ flow_id: "flow-1" }]));
    expect(asked).toContain("failed");
  });
});

describe("selected runs", () => {
  it("are paused and cancelled together, and what was refused is said", async () => {
    const sent: unknown[] = [];
    const active = { ...found, id: "run-2", status: "waiting", finished_at: null };
    server.use(
      http.get("*/api/v1/me", () =>
        HttpResponse.json({ permissions: { tenant: [], every_space: ["runs.start"], spaces: [] } }),
      ),
      http.get("*/api/v1/flow-runs", () => HttpResponse.json({ items: [active, found], next_cursor: null })),
      http.get("*/api/v1/events/waiting", () => HttpResponse.json({ items: [], next_cursor: null })),
      http.post("*/api/v1/flow-runs/actions", async ({ request }) => {
        sent.push(await request.json());
        const problem = { code: "run_over", detail: "The run is completed.", status: 409, title: "x", type: "x" };
        return HttpResponse.json({ items: [{ run_id: "run-2", status: null, changed: false, problem }] });
      }),
    );
    show();
    const user = userEvent.setup();
    const boxes = await screen.findAllByRole("checkbox", { name: /^Select the run of/ });
    for (const box of boxes) await user.click(box);
    const bar = screen.getByRole("region", { name: "2 selected" });
    expect(within(bar).getByRole("button", { name: "Compare" })).toBeInTheDocument();
    expect(within(bar).queryByRole("button", { name: "Continue" })).toBeNull();
    await user.click(within(bar).getByRole("button", { name: "Pause" }));
    await waitFor(() => expect(sent).toEqual([{ action: "pause", published: false, run_ids: ["run-2"] }]));
    expect(await screen.findByText("1 run was not changed")).toBeInTheDocument();
    expect(screen.getByText("The run is completed.")).toBeInTheDocument();
    expect(screen.queryByRole("region", { name: "2 selected" })).toBeNull();
  });
});

describe("columns", () => {
  it("are chosen, shown and remembered for the user", async () => {
    const saved: unknown[] = [];
    let views: object[] = [];
    const details = {
      flow: "Talk",
      release: 7,
      trigger: { id: "t", name: "Nightly", kind: "schedule", occurrence_id: "o" },
      owner_id: "u",
      owner: "Eva",
      tags: ["billing"],
      cost_usd: 0.25,
      unpriced: 2,
    };
    server.use(
      http.get("*/api/v1/flow-runs", ({ request }) => {
        expect(new URL(request.url).searchParams.get("details")).toBe("true");
        return HttpResponse.json({ items: [{ ...found, details }], next_cursor: null });
      }),
    );
    show();
    server.use(
      http.get("*/api/v1/saved-views", () => HttpResponse.json({ items: views })),
      http.put("*/api/v1/saved-views", async ({ request }) => {
        const view = { ...((await request.json()) as object), id: "v" };
        saved.push(view);
        views = [view];
        return HttpResponse.json(view);
      }),
    );
    const user = userEvent.setup();
    expect(await screen.findByText("The needle")).toBeInTheDocument();
    expect(screen.queryByText("Nightly")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Columns" }));
    for (const name of ["Trigger", "Version", "Cost", "Owner", "Tags"]) {
      await user.click(await screen.findByRole("checkbox", { name }));
    }
    const row = screen.getByText("The needle").closest("li");
    await waitFor(() =>
      expect(row).toHaveTextContent("Trigger NightlyVersion v7Cost $0.25+Duration 1 sOwner EvaTags billing"),
    );
    await waitFor(() =>
      expect(saved.at(-1)).toEqual({
        id: "v",
        place: "runs",
        name: "",
        settings: { filters: {}, columns: ["trigger", "version", "cost", "duration", "owner", "tags"] },
      }),
    );
  });
});

it("says what a run waits for", async () => {
  const details = { flow: "F", tags: [], cost_usd: 0, unpriced: 0, waits_for: ["approval", "breakpoint"] };
  const items = [{ ...found, status: "waiting", text: null, finished_at: null, ms: null, details }];
  server.use(
    http.get("*/api/v1/flow-runs", () => HttpResponse.json({ items, next_cursor: null })),
    http.get("*/api/v1/events/waiting", () => HttpResponse.json({ items: [], next_cursor: null })),
  );
  show();
  expect(await screen.findByText("Stopped at a breakpoint")).toBeVisible();
  expect(screen.getByText("For approval")).toBeVisible();
});
