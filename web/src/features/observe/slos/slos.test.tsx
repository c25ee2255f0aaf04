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
import type { Slo } from "@/api/queries/slos";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { SlosPage } from "./SlosPage";

const slo: Slo = {
  id: "o1",
  name: "In time",
  flow_id: "f1",
  flow_name: "Import",
  space_id: "s1",
  kind: "latency",
  runs: "published",
  target: 95,
  seconds: 60,
  window_days: 28,
  total: 400,
  good: 370,
  attained: 92.5,
  budget_left: -50,
  burn: { minutes_5: 20, minutes_30: 3, hour_1: 14.4, hours_6: null, days_3: 0.5 },
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

function serve(slos: Slo[]) {
  const sent: { method: string; path: string; body: unknown }[] = [];
  const note = async ({ request }: { request: Request }) => {
    const text = await request.text();
    sent.push({ method: request.method, path: new URL(request.url).pathname, body: text ? JSON.parse(text) : null });
    return HttpResponse.json(slo);
  };
  const may = ["alerts.manage"];
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: may, every_space: may, spaces: [] } })),
    http.get("*/api/v1/flows/f1", () => HttpResponse.json({ id: "f1", name: "Import", space_id: "s1" })),
    http.get("*/api/v1/slos", () => HttpResponse.json({ items: slos, next_cursor: null })),
    http.post("*/api/v1/flows/f1/slos", note),
    http.patch("*/api/v1/slos/o1", note),
    http.delete("*/api/v1/slos/o1", note),
  );
  return sent;
}

function show(at: string) {
  const root = createRootRoute();
  const routes = ["/service-levels", "/alerts", "/flows/$flowId"].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: SlosPage }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: [at] }),
  });
  renderStudio(<RouterProvider router={router as never} />);
  return userEvent.setup();
}

describe("The service levels", () => {
  it("show target, error budget and burn rates", async () => {
    serve([slo]);
    show("/service-levels");
    expect(await screen.findByText("-50 % of the error budget left")).toBeVisible();
    expect(screen.getByText(/95 % complete within 1 min/)).toBeVisible();
    expect(screen.getByText(/92.5 % of 400 runs/)).toBeVisible();
    expect(screen.getByText("14.4")).toHaveClass("text-bad");
    expect(screen.getByText("0.5")).not.toHaveClass("text-bad");
    expect(screen.getByText("Import")).toBeVisible();
  });

  it("of a flow are added with a duration where one is needed", async () => {
    const sent = serve([]);
    const user = show("/service-levels?flow=f1");
    await user.click(await screen.findByRole("button", { name: "Add service level" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText(/^Name/), "In time");
    await user.click(dialog.getByRole("combobox", { name: "A run is good when it" }));
    await user.click(await screen.findByRole("option", { name: "completes in time" }));
    await user.clear(dialog.getByLabelText("Target in percent"));
    await user.type(dialog.getByLabelText("Target in percent"), "100");
    expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
    await user.clear(dialog.getByLabelText("Target in percent"));
    await user.type(dialog.getByLabelText("Target in percent"), "95");
    await user.click(dialog.getByRole("button", { name: "Save" }));
    await expect.poll(() => sent.length).toBe(1);
    expect(sent[0]).toEqual({
      method: "POST",
      path: "/api/v1/flows/f1/slos",
      body: { name: "In time", kind: "latency", target: 95, seconds: 60, window_days: 28, runs: "published" },
    });
  });

  it("are changed and removed", async () => {
    const sent = serve([slo]);
    const user = show("/service-levels");
    await user.click(await screen.findByRole("button", { name: "Actions for In time" }));
    await user.click(await screen.findByRole("menuitem", { name: "Edit" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.clear(dialog.getByLabelText("Target in percent"));
    await user.type(dialog.getByLabelText("Target in percent"), "90");
    await user.click(dialog.getByRole("button", { name: "Save" }));
    await expect.poll(() => sent.length).toBe(1);
    expect(sent[0]?.body).toEqual({ name: "In time", target: 90, window_days: 28 });
    await user.click(await screen.findByRole("button", { name: "Actions for In time" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove" }));
    await user.click(await screen.findByRole("button", { name: "Remove" }));
    await expect.poll(() => sent.map(({ method }) => method)).toEqual(["PATCH", "DELETE"]);
  });
});
