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
import type { FieldTemplate, JsonValue, Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { InlineField } from "./InlineField";

const ID = "0190a000-0000-7000-8000-000000000001";
const FIELD: FieldTemplate = { name: "flow", kind: "flow", label: "Flow", required: true };
const listed = (id: string, name: string, space_id: string, published_version: number | null = 1) => ({
  id,
  name,
  space_id,
  published_version,
  updated_at: "2026-01-01T00:00:00Z",
});
const FLOWS = [
  listed("other", "Handle an order", "space-2"),
  listed(ID, "Handle an order", "space-1"),
  listed("draft", "A draft", "space-1", null),
];

beforeEach(() => {
  server.use(
    http.get("*/api/v1/flows", () => HttpResponse.json({ items: FLOWS, next_cursor: null })),
    http.get(`*/api/v1/flows/${ID}`, () => HttpResponse.json({ ...flowOut({ name: "Handle an order" }), id: ID })),
    http.get("*/api/v1/flows/0190a000-0000-7000-8000-00000000dead", () => new HttpResponse(null, { status: 404 })),
    http.get("*/api/v1/me", () =>
      HttpResponse.json({ user: { id: "u" }, permissions: { tenant: [], every_space: ["runs.start"], spaces: [] } }),
    ),
  );
});

function drawn(value: JsonValue) {
  const template = { type: "ForEach", label: "For each", fields: [FIELD], outputs: [] } as unknown as Template;
  const store = createDraftStore(
    flowOut({ nodes: [{ id: "each", type: "ForEach", params: { flow: value } }], edges: [] }),
    [template],
  );
  const root = createRootRoute();
  const at = (path: string, component: () => React.ReactNode) =>
    createRoute({ getParentRoute: () => root, path, component });
  const pages = [at("/", () => <InlineField nodeId="each" field={FIELD} top={0} />), at("/flows/$flowId", () => null)];
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />, { store });
  return { router, value: () => store.getState().document.nodes.each?.params?.flow };
}

it.each([
  ["by its id", ID],
  ["by its name", "handle an order"],
  ["of a version", { flow_id: ID, version: 2 }],
])("shows the flow that a step runs %s, and opens it", async (_, value) => {
  const { router } = drawn(value);
  expect(await screen.findByRole("button", { name: "Flow: Handle an order" })).toBeInTheDocument();
  await userEvent.click(screen.getByRole("link", { name: "Open Handle an order" }));
  await waitFor(() => expect(router.state.location.pathname).toBe(`/flows/${ID}`));
});

it("shows that a flow is gone, and one that nobody knows as it is written, without a link", async () => {
  drawn("0190a000-0000-7000-8000-00000000dead");
  expect(await screen.findByRole("button", { name: "Flow: This flow no longer exists" })).toBeInTheDocument();
  expect(screen.queryByRole("link")).not.toBeInTheDocument();
});

it("offers published flows by name where it is edited", async () => {
  const { value } = drawn("Nowhere");
  await userEvent.click(await screen.findByRole("button", { name: "Flow: Nowhere" }));
  await userEvent.click(await screen.findByRole("button", { name: /^Flow$/ }));
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
  const [, second] = screen.getAllByRole("button", { name: /Handle an order/ });
  await userEvent.click(second as HTMLElement);
  expect(value()).toBe(ID);
});
