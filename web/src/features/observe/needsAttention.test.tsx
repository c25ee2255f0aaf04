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
import { describe, expect, it } from "vitest";
import type { AttentionItem } from "@/api/queries/attention";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NeedsAttention } from "./NeedsAttention";

const failing: AttentionItem = {
  key: "failed_runs:f1:invalid_json",
  kind: "failed_runs",
  space_id: "s1",
  flow_id: "f1",
  name: "Import",
  code: "invalid_json",
  message: "The text is no JSON.",
  count: 1200,
  first_at: "2026-01-01T00:00:00Z",
  last_at: "2026-01-02T00:00:00Z",
  since_release: 7,
  run_id: "r1",
  dismissed: false,
};
const waiting: AttentionItem = {
  ...failing,
  key: "approvals",
  kind: "approvals",
  count: 3,
  last_at: null,
  run_id: null,
};

function serve(items: AttentionItem[]) {
  const sent: unknown[] = [];
  let shown = items;
  server.use(
    http.get("*/api/v1/attention", () => HttpResponse.json({ items: shown, open: shown.length })),
    http.put("*/api/v1/attention/dismissed", async ({ request }) => {
      const body = (await request.json()) as { key: string; dismissed: boolean };
      sent.push(body);
      shown = body.dismissed ? items.filter(({ key }) => key !== body.key) : items;
      return HttpResponse.json({ items: shown, open: shown.length });
    }),
  );
  return sent;
}

function show() {
  const root = createRootRoute();
  const page = () => (
    <>
      <NeedsAttention space={null} />
      <Toasts />
    </>
  );
  const observe = createRoute({ getParentRoute: () => root, path: "/", component: page });
  const router = createRouter({ routeTree: root.addChildren([observe]), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />);
}

describe("needs attention", () => {
  it("shows an open alert with what its rule watches for, and leads to the rules", async () => {
    serve([{ ...failing, key: "alert:a1", kind: "alert", name: "Imports fail", code: "silent", since_release: null }]);
    show();
    expect(await screen.findByText("Alert: Imports fail")).toBeVisible();
    expect(screen.getByText("Runs that do not start")).toBeVisible();
    expect(screen.getByRole("link", { name: "Open alerts" })).toHaveAttribute("href", "/alerts");
  });

  it("says that nothing does", async () => {
    serve([]);
    show();
    expect(await screen.findByText("Nothing needs you.")).toBeInTheDocument();
  });

  it("shows failures that are alike as one line that leads to them", async () => {
    serve([failing]);
    show();
    const line = (await screen.findByText("Import: 1,200 failed runs")).closest("li") as HTMLElement;
    expect(within(line).getByText("Since version 7")).toBeInTheDocument();
    expect(within(line).getByText("The text is no JSON.")).toBeInTheDocument();
    expect(within(line).getByRole("link", { name: "Latest run" })).toHaveAttribute("href", "/flows/f1/runs/r1");
    expect(within(line).getByRole("link", { name: "All of them" })).toHaveAttribute(
      "href",
      "/runs?status=failed&flow=f1",
    );
  });

  it("counts one failure as one", async () => {
    serve([{ ...failing, count: 1 }]);
    show();
    expect(await screen.findByText("Import: 1 failed run")).toBeInTheDocument();
  });

  it("hides an item until it happens again, which can be undone", async () => {
    const sent = serve([failing]);
    show();
    await userEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(await screen.findByText("Nothing needs you.")).toBeInTheDocument();
    await userEvent.click(await screen.findByRole("button", { name: "Undo" }));
    expect(await screen.findByText("Import: 1,200 failed runs")).toBeInTheDocument();
    expect(sent).toEqual([
      { key: failing.key, dismissed: true },
      { key: failing.key, dismissed: false },
    ]);
  });

  it("does not offer to dismiss approvals, which leave by being decided", async () => {
    serve([waiting]);
    show();
    expect(await screen.findByText("Approvals that wait for you: 3")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Dismiss" })).not.toBeInTheDocument();
  });
});
