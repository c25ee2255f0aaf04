import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { createDraftStore } from "@/lib/draft";
import { useRequests } from "@/lib/requests";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { RunPanel } from "./RunPanel";

const FIELD = { id: "amount", label: "Amount", type: "number" as const, required: true };
const STEP = { id: "ask", type: "FormInput" };

/** The run panel of a flow for somebody with these rights in its space; what was asked of the server. */
function open(
  permissions: string[],
  published: number | null,
  { nodes = [STEP], runs = [] as { id: string }[] }: { nodes?: (typeof STEP)[]; runs?: { id: string }[] } = {},
) {
  const started: unknown[] = [];
  const spaces = [{ space_id: "space-1", role: "", permissions }];
  const definition = { nodes: [STEP], form: [FIELD] };
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces } })),
    http.get("*/api/v1/flows/flow-1/versions/3", () => HttpResponse.json({ version: 3, definition })),
    http.get("*/api/v1/flow-runs", () => HttpResponse.json({ items: runs, next_cursor: null })),
    http.post("*/api/v1/flows/flow-1/runs", async ({ request }) => {
      started.push(await request.json());
      return HttpResponse.json({ code: "later", title: "Not now" }, { status: 503 });
    }),
  );
  const draft = { ...flowOut({ name: "Costs", nodes: nodes as never, form: [] }), published_version: published };
  const root = createRootRoute({ component: () => <RunPanel shown /> });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  const store = createDraftStore(draft, [], permissions.includes("flows.edit"));
  renderStudio(<RouterProvider router={router as never} />, { store });
  return { started, user: userEvent.setup() };
}

describe("the run panel", () => {
  it("runs what is published, with the form of that, for who may not run drafts", async () => {
    const { started, user } = open(["flows.view", "runs.start"], 3);
    await user.type(await screen.findByLabelText(/Amount/), "12");
    expect(screen.getByText("Runs the published version 3.")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Run" }));
    await vi.waitFor(() => expect(started).toMatchObject([{ version: "published", form_data: { amount: 12 } }]));
  });

  it("says when what is published could not be read, and reads it again", async () => {
    const { user } = open(["flows.view", "runs.start"], 3);
    const broken = { code: "down", title: "Down for a moment", status: 503, detail: "" };
    server.use(
      http.get("*/api/v1/flows/flow-1/versions/3", () => HttpResponse.json(broken, { status: 503 }), { once: true }),
    );
    expect(await screen.findByText("Down for a moment")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByLabelText(/Amount/)).toBeInTheDocument();
  });

  it("runs the draft for who builds it", async () => {
    const { started, user } = open(["flows.view", "runs.start", "runs.test", "flows.edit"], 3);
    await user.click(await screen.findByRole("button", { name: "Run" }));
    await vi.waitFor(() => expect(started).toMatchObject([{ version: "draft" }]));
  });

  it("sends nothing to the server for a flow without steps", async () => {
    const { started } = open(["flows.view", "runs.start", "runs.test", "flows.edit"], null, { nodes: [] });
    expect(await screen.findByText("Add something to the flow first")).toBeInTheDocument();
    useRequests.getState().requestRun("ready");
    await vi.waitFor(() => expect(useRequests.getState().run).toBeNull());
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(started).toEqual([]);
  });

  it("focuses the message box of a chat, which comes a moment later", async () => {
    const nodes = [
      { id: "ask", type: "ChatInput" },
      { id: "out", type: "ChatOutput" },
    ];
    open(["flows.view", "runs.start", "runs.test", "flows.edit"], null, { nodes });
    useRequests.getState().requestRun("ready");
    await vi.waitFor(() => expect(screen.getByRole("textbox", { name: "Message" })).toHaveFocus());
  });

  it("offers the data of an earlier run only where there is one", async () => {
    const rights = ["flows.view", "runs.start", "runs.test", "flows.edit"];
    open(rights, null);
    expect(await screen.findByRole("button", { name: "Run" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Reuse last data" })).toBeNull();
  });

  it("offers the data of the newest run", async () => {
    open(["flows.view", "runs.start", "runs.test"], 3, { runs: [{ id: "run-1" }] });
    expect(await screen.findByRole("button", { name: "Reuse last data" })).toBeInTheDocument();
  });

  it("says that nothing is published yet to who may not run drafts", async () => {
    open(["flows.view", "runs.start"], null);
    expect(await screen.findByText("Nothing to run yet")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Run" })).toBeNull();
  });

  it("says what running takes to who only looks", async () => {
    open(["flows.view"], 3);
    expect(await screen.findByText(/Running it requires the runner role/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Run" })).toBeNull();
  });
});
