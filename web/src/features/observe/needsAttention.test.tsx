import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { AttentionAction, AttentionItem } from "@/api/queries/attention";
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
const mine = {
  id: "v1",
  place: "attention",
  name: "My failures",
  settings: { filters: { kind: ["failed_runs"], assigned_to: "u1" }, columns: [] },
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
  const sent: AttentionAction[] = [];
  const asked: string[] = [];
  let shown = items;
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({
        user: { id: "u1", name: "Eva" },
        permissions: { tenant: [], every_space: ["runs.start", "runs.view"], spaces: [] },
      }),
    ),
    http.get("*/api/v1/saved-views", () => HttpResponse.json({ items: [mine] })),
    http.get("*/api/v1/attention", ({ request }) => {
      asked.push(new URL(request.url).search);
      return HttpResponse.json({ items: shown, open: shown.length, more: [] });
    }),
    http.post("*/api/v1/attention/actions", async ({ request }) => {
      const body = (await request.json()) as AttentionAction;
      sent.push(body);
      if (body.action === "dismiss") shown = items.filter(({ key }) => !body.keys.includes(key));
      if (body.action === "restore") shown = items;
      const problem = {
        code: "run_not_resumable",
        detail: "The run has no failed step.",
        status: 409,
        title: "x",
        type: "x",
      };
      const results = body.keys.map((key) => ({ key, id: key, done: true, new_run_id: null, problem: null }));
      const refused = { key: failing.key, id: "r9", done: false, new_run_id: null, problem };
      return HttpResponse.json({ items: body.action === "resume" ? [...results, refused] : results, left: 0 });
    }),
  );
  return { sent, asked };
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
    expect(await screen.findByText("Nothing needs attention.")).toBeInTheDocument();
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
    const { sent } = serve([failing]);
    show();
    await userEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(await screen.findByText("Nothing needs attention.")).toBeInTheDocument();
    await userEvent.click(await screen.findByRole("button", { name: "Undo" }));
    expect(await screen.findByText("Import: 1,200 failed runs")).toBeInTheDocument();
    expect(sent).toEqual([
      { action: "dismiss", keys: [failing.key], published: false },
      { action: "restore", keys: [failing.key], published: false },
    ]);
  });

  it("does not offer to dismiss approvals, which leave by being decided", async () => {
    serve([waiting]);
    show();
    expect(await screen.findByText("Approvals that wait for you: 3")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Dismiss" })).not.toBeInTheDocument();
  });

  it("resumes the runs of a selection with the published version, and shows each result when one was refused", async () => {
    const other = { ...failing, key: "failed_runs:f2:x", flow_id: "f2", name: "Export", step_id: "parse" };
    const { sent } = serve([failing, other]);
    show();
    expect(await screen.findByText("Step parse")).toBeInTheDocument();
    for (const box of screen.getAllByRole("checkbox")) await userEvent.click(box);
    await userEvent.click(
      within(screen.getByRole("region", { name: "2 selected" })).getByRole("button", { name: "Actions" }),
    );
    await userEvent.click(await screen.findByRole("menuitem", { name: "Resume with the published version" }));
    const dialog = await screen.findByRole("dialog", { name: "Results" });
    expect(within(dialog).getByText("2 of 3 done.")).toBeInTheDocument();
    expect(within(dialog).getByText("The run has no failed step.")).toBeInTheDocument();
    expect(sent).toEqual([{ action: "resume", keys: [failing.key, other.key], published: true }]);
  });

  it("assigns an item and mutes it for a day", async () => {
    const { sent } = serve([{ ...failing, assignee_id: "u2", assignee: "Bo" }]);
    show();
    expect(await screen.findByText("Bo")).toBeInTheDocument();
    for (const name of ["Assign to me", "Assign to nobody", "Mute for a day"]) {
      await userEvent.click(await screen.findByRole("button", { name: "Actions: Import" }));
      await userEvent.click(await screen.findByRole("menuitem", { name }));
    }
    expect(sent.map(({ action, user_id }) => [action, user_id])).toEqual([
      ["assign", "u1"],
      ["assign", undefined],
      ["dismiss", undefined],
    ]);
    expect(Date.parse(sent[2]?.until ?? "") - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });

  it("is narrowed by filters and by a saved view", async () => {
    const { asked } = serve([failing]);
    show();
    await userEvent.click(await screen.findByRole("combobox", { name: "Age" }));
    await userEvent.click(await screen.findByRole("option", { name: "Older than a day" }));
    await waitFor(() => expect(asked.at(-1)).toBe("?older_hours=24"));
    await userEvent.click(screen.getByRole("button", { name: "Views" }));
    await userEvent.click(await screen.findByRole("button", { name: "My failures" }));
    await waitFor(() => expect(asked.at(-1)).toBe("?kind=failed_runs&assigned_to=u1"));
    expect(screen.getByRole("combobox", { name: "Assigned to" })).toHaveTextContent("Assigned to me");
  });
});
