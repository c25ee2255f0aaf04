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
import type { AlertRule } from "@/api/queries/alerts";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { AlertsPage } from "./AlertsPage";

const rule: AlertRule = {
  id: "r1",
  name: "Imports fail",
  kind: "failure",
  state: "open",
  flow_id: "f1",
  flow_name: "Import",
  space_id: "s1",
  threshold: 3,
  window_seconds: 3600,
  fewest_runs: 5,
  connection_id: null,
  recipients: [],
  webhook_shown: "https://hooks.example.org",
  escalation_seconds: null,
  escalation_connection_id: null,
  escalation_recipients: [],
  quiet_seconds: 900,
  notify_resolved: true,
  language: "en",
  enabled: true,
  muted_until: null,
  open: 2,
  fired_at: "2026-01-01T00:00:00Z",
  failed_notices: 1,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

function serve(rules: AlertRule[]) {
  const sent: { method: string; path: string; body: unknown }[] = [];
  const note = async ({ request }: { request: Request }) => {
    const text = await request.text();
    sent.push({ method: request.method, path: new URL(request.url).pathname, body: text ? JSON.parse(text) : null });
  };
  const may = ["alerts.manage", "runs.start"];
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: may, every_space: may, spaces: [] } })),
    http.get("*/api/v1/spaces", () => HttpResponse.json({ items: [{ id: "s1", name: "Home" }], next_cursor: null })),
    http.get("*/api/v1/alert-rules", () => HttpResponse.json({ items: rules, next_cursor: null })),
    http.post("*/api/v1/alert-rules", async (info) => {
      await note(info);
      return HttpResponse.json(rule, { status: 201 });
    }),
    http.patch("*/api/v1/alert-rules/r1", async (info) => {
      await note(info);
      return HttpResponse.json(rule);
    }),
    http.post("*/api/v1/alert-rules/r1/test", () =>
      HttpResponse.json([
        {
          channel: "webhook",
          delivered: false,
          status: 410,
          code: "delivery_refused",
          message: "The receiver answered 410.",
        },
      ]),
    ),
    http.get("*/api/v1/connections", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/alerts", () =>
      HttpResponse.json({
        items: [
          {
            id: "a1",
            rule_id: "r1",
            rule_name: rule.name,
            kind: "failure",
            state: "open",
            flow_id: "f1",
            name: "Import",
            value: 4,
            threshold: 3,
            window_seconds: 3600,
            opened_at: "2026-01-01T00:00:00Z",
            resolved_at: null,
            acknowledged_at: null,
            escalated_at: null,
          },
        ],
        next_cursor: null,
      }),
    ),
    http.get("*/api/v1/alert-notices", () =>
      HttpResponse.json({
        items: [
          {
            id: "n1",
            rule_id: "r1",
            kind: "opened",
            channel: "webhook",
            status: "failed",
            opened: 1,
            resolved: 0,
            attempts: 6,
            last_status: 500,
            error: { code: "receiver_failed", message: "The receiver answered 500." },
            created_at: "2026-01-01T00:00:00Z",
            sent_at: null,
            next_attempt_at: null,
          },
        ],
        next_cursor: null,
      }),
    ),
    http.post("*/api/v1/alerts/a1/acknowledge", async (info) => {
      await note(info);
      return HttpResponse.json({});
    }),
    http.post("*/api/v1/alert-notices/n1/redeliver", async (info) => {
      await note(info);
      return HttpResponse.json({});
    }),
  );
  return sent;
}

function show() {
  const root = createRootRoute();
  const routes = ["/alerts", "/runs", "/flows/$flowId"].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: AlertsPage }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: ["/alerts"] }),
  });
  renderStudio(<RouterProvider router={router as never} />);
  return userEvent.setup();
}

describe("The alert rules", () => {
  it("propose useful first rules where there are none", async () => {
    const sent = serve([]);
    const user = show();
    await user.click(await screen.findByRole("button", { name: "A run takes longer than 10 minutes" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByLabelText(/^Name/)).toHaveValue("A run takes longer than 10 minutes");
    expect(dialog.getByLabelText("Seconds")).toHaveValue("600");
    await user.click(dialog.getByRole("button", { name: "Save" }));
    await expect.poll(() => sent.length).toBe(1);
    expect(sent[0]).toMatchObject({
      body: { kind: "slow", threshold: 600, window_seconds: 3600, connection_id: null },
    });
  });

  it("show their state in words, what they found, and what was not delivered", async () => {
    const sent = serve([rule]);
    const user = show();
    expect(await screen.findByText("2 open")).toBeVisible();
    expect(screen.getByText(/3 or more failed runs in 1 h/)).toBeVisible();
    expect(screen.getByText("1 notice was not delivered")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "History of Imports fail" }));
    expect(await screen.findByText(/Failed runs: 4/)).toBeVisible();
    expect(await screen.findByText("The receiver answered 500.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Acknowledge" }));
    await user.click(screen.getByRole("button", { name: "Send again" }));
    await expect
      .poll(() => sent.map(({ path }) => path.split("/").slice(3).join("/")))
      .toEqual(["alerts/a1/acknowledge", "alert-notices/n1/redeliver"]);
  });

  it("are tested with the real answer, muted for a time and switched off", async () => {
    const sent = serve([rule]);
    const user = show();
    await user.click(await screen.findByRole("button", { name: "Actions for Imports fail" }));
    await user.click(await screen.findByRole("menuitem", { name: "Send test notice" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(await dialog.findByText("410 · The receiver answered 410.")).toBeVisible();
    await user.click(dialog.getAllByRole("button", { name: "Close" })[0] as HTMLElement);
    await user.click(screen.getByRole("button", { name: "Actions for Imports fail" }));
    await user.click(await screen.findByRole("menuitem", { name: "Mute for 8 h" }));
    await user.click(screen.getByRole("switch", { name: "Evaluate Imports fail" }));
    await expect.poll(() => sent.length).toBe(2);
    expect(sent.map(({ body }) => Object.keys(body as object))).toEqual([["muted_until"], ["enabled"]]);
  });

  it("are shown a page after the other", async () => {
    serve([]);
    server.use(
      http.get("*/api/v1/alert-rules", ({ request }) => {
        const further = new URL(request.url).searchParams.get("cursor") === "next";
        const item = further ? { ...rule, id: "r2", name: "The oldest rule" } : rule;
        return HttpResponse.json({ items: [item], next_cursor: further ? null : "next" });
      }),
    );
    const user = show();
    await user.click(await screen.findByRole("button", { name: "Show more" }));
    expect(await screen.findByText("The oldest rule")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Show more" })).toBeNull();
  });

  it("of every space can notify through a connection of any space", async () => {
    const asked: (string | null)[] = [];
    serve([]);
    server.use(
      http.get("*/api/v1/connections", ({ request }) => {
        asked.push(new URL(request.url).searchParams.get("space_id"));
        const mail = { kind: "smtp", owner_id: null, fields: {}, secret_names: [], hosts: [] };
        return HttpResponse.json({ items: [{ ...mail, id: "c1", name: "office", space_id: "s1" }], next_cursor: null });
      }),
    );
    const user = show();
    await user.click(await screen.findByRole("button", { name: "A run takes longer than 10 minutes" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("combobox", { name: "Where" }));
    await user.click(await screen.findByRole("option", { name: "All spaces" }));
    await user.click(dialog.getByRole("combobox", { name: "Notify through" }));
    expect(await screen.findByRole("option", { name: "office · Home" })).toBeInTheDocument();
    expect(asked.at(-1)).toBeNull();
  });
});
