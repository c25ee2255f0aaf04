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
import { beforeEach, expect, it } from "vitest";
import type { Template } from "@/api/types";
import { useCalledStep } from "@/lib/calledStep";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import ColumnInspector from "./ColumnInspector";

const INNER = "0190a000-0000-7000-8000-000000000001";
const TEXT: Template = {
  type: "Text",
  label: "Text",
  description: "",
  category: "",
  fields: [{ name: "text", kind: "text", label: "Words" }],
  outputs: [{ name: "text", type: "Text", label: "Text" }],
};
const inner = {
  ...flowOut({ name: "One line", nodes: [{ id: "read", type: "Text", params: { text: "old" } }], edges: [] }),
  id: INNER,
};
const me = (role: string) => ({
  user: { id: "u", name: "Ada", role: "member" },
  permissions: {
    tenant: [],
    every_space: [],
    spaces: [{ space_id: "space-1", permissions: role === "editor" ? ["flows.edit"] : [] }],
  },
});

let saved: { definition: { nodes: { params: unknown }[] } }[] = [];

beforeEach(() => {
  saved = [];
  useCalledStep.getState().choose(null);
  server.use(
    http.get(`*/api/v1/flows/${INNER}`, () => HttpResponse.json(inner)),
    http.get("*/api/v1/components", () => HttpResponse.json([TEXT])),
    http.get(
      `*/api/v1/flows/${INNER}/events`,
      () => new HttpResponse(new ReadableStream(), { headers: { "Content-Type": "text/event-stream" } }),
    ),
    http.patch(`*/api/v1/flows/${INNER}/draft`, async ({ request }) => {
      const body = (await request.json()) as (typeof saved)[number];
      saved.push(body);
      return HttpResponse.json({ ...inner, revision: 1 + saved.length, definition: body.definition });
    }),
  );
});

function shown(stepId = "read") {
  const store = createDraftStore(flowOut({ nodes: [{ id: "each", type: "Text", label: "For each line" }] }), [TEXT]);
  store.getState().select(["each"]);
  useCalledStep.getState().choose({ caller: "flow-1", nodeId: "each", flowId: INNER, stepId });
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: "/", component: ColumnInspector });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />, { store });
  return store;
}

it("changes the draft of the flow that the node runs, names it, and undoes there only", async () => {
  server.use(http.get("*/api/v1/me", () => HttpResponse.json(me("editor"))));
  const user = userEvent.setup();
  const store = shown();
  expect(await screen.findByText(/You change the flow One line/)).toBeInTheDocument();
  const field = await screen.findByRole("textbox", { name: /Words/ });
  await user.clear(field);
  await user.type(field, "new");
  await waitFor(() => expect(saved.at(-1)?.definition.nodes[0]?.params).toEqual({ text: "new" }), { timeout: 4000 });
  expect(store.getState().past).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(screen.getByRole("textbox", { name: /Words/ })).toHaveValue("old"));
  await user.click(screen.getByRole("button", { name: "Settings of the node that runs this flow" }));
  expect(await screen.findByDisplayValue("For each line")).toBeInTheDocument();
});

it("is read only for a user who may not edit that flow", async () => {
  server.use(http.get("*/api/v1/me", () => HttpResponse.json(me("viewer"))));
  shown();
  expect(await screen.findByText("You have read access to the flow One line.")).toBeInTheDocument();
  expect(await screen.findByRole("textbox", { name: /Words/ })).toBeDisabled();
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});

it("says so where the draft no longer has the step", async () => {
  server.use(http.get("*/api/v1/me", () => HttpResponse.json(me("editor"))));
  shown("gone");
  expect(await screen.findByText("The draft of this flow no longer has this step.")).toBeInTheDocument();
});
