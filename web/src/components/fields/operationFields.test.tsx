import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it } from "vitest";
import type { JsonValue, Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NodeField } from "./NodeField";
import { inlined } from "./operationFields";

const ORIGIN = window.location.origin;
const page = (items: unknown[]) => HttpResponse.json({ items, next_cursor: null });
const KEY = "POST /projects/{project}/issues";
const operation = { key: KEY, operation_id: "create", summary: "Create an issue", tags: [], deprecated: false };
const input = {
  type: "object",
  required: ["project", "body"],
  properties: { project: { type: "string" }, urgent: { type: "boolean" }, body: { $ref: "#/$defs/Issue" } },
  $defs: { Issue: { type: "object", properties: { title: { type: "string" } } } },
};

beforeEach(() => {
  server.use(
    http.get(`${ORIGIN}/api/v1/connections`, () => page([{ id: "c1", name: "tracker", kind: "bearer" }])),
    http.get(`${ORIGIN}/api/v1/connections/c1/operations`, ({ request }) =>
      page(new URL(request.url).searchParams.get("q") === "nothing" ? [] : [{ ...operation, changed: true }]),
    ),
    http.get(`${ORIGIN}/api/v1/connections/c1/operation`, () =>
      HttpResponse.json({ ...operation, changed: false, description: "", input, output: null, paging: null }),
    ),
    http.get(`${ORIGIN}/api/v1/variables`, () => page([])),
  );
});

function shown(type: string, name: string, params: Record<string, JsonValue>) {
  const kind = name === "operation" ? "text" : "json";
  const template: Template = {
    type,
    label: type,
    description: "",
    category: "",
    fields: [{ name, kind, label: name }],
    outputs: [{ name: "data", type: "Data", label: "Data" }],
  };
  const store = createDraftStore(flowOut({ nodes: [{ id: "node", type, params }], edges: [] }), [template]);
  const field = template.fields?.[0];
  if (!field) throw new Error("no field");
  renderStudio(<NodeField nodeId="node" field={field} />, { store });
  return () => store.getState().document.nodes.node?.params?.[name];
}

describe("the operation of a call", () => {
  it("is chosen from the description of the connection's API", async () => {
    const now = shown("ApiCall", "operation", { connection: "tracker" });
    await userEvent.click(await screen.findByRole("button", { name: "Choose", expanded: false }));
    const line = await screen.findByRole("button", { name: /Create an issue/ });
    expect(within(line).getByText("Changed")).toBeVisible();
    await userEvent.click(line);
    expect(now()).toBe(KEY);
  });

  it("is found by a search", async () => {
    shown("ApiCall", "operation", { connection: "tracker" });
    await userEvent.click(await screen.findByRole("button", { name: "Choose", expanded: false }));
    await userEvent.type(screen.getByRole("searchbox"), "nothing");
    expect(await screen.findByText("No operation matches “nothing”.")).toBeVisible();
  });
});

describe("the operations of tools", () => {
  it("are added and taken away one by one", async () => {
    const now = shown("ApiTools", "operations", { connection: "tracker" });
    const line = await screen.findByRole("button", { name: /Create an issue/ });
    await userEvent.click(line);
    expect(now()).toEqual([KEY]);
    await userEvent.click(line);
    expect(now()).toBeUndefined();
  });
});

describe("the arguments of a call", () => {
  it("are a form made from the description", async () => {
    const now = shown("ApiCall", "arguments", { connection: "tracker", operation: KEY });
    await userEvent.type(await screen.findByLabelText(/project/), "web");
    expect(now()).toEqual({ project: "web" });
    expect(screen.getByText("urgent")).toBeVisible();
    expect(screen.getByText("body")).toBeVisible();
  });

  it("are read with one request, and are JSON where the description has no such operation", async () => {
    const asked: string[] = [];
    const note = ({ request }: { request: Request }) => asked.push(request.url.slice(ORIGIN.length));
    server.events.on("request:start", note);
    server.use(http.get(`${ORIGIN}/api/v1/connections/c1/operation`, () => HttpResponse.json(null)));
    shown("ApiCall", "arguments", { connection: "tracker", operation: "none" });
    expect(await screen.findByLabelText(/arguments/)).toBeVisible();
    await waitFor(() =>
      expect(asked.filter((url) => url.includes("/c1/"))).toEqual([
        "/api/v1/connections/c1/operation?name=none&optional=true",
      ]),
    );
    server.events.removeListener("request:start", note);
  });

  it("follow references as far as a form needs, also in a loop", () => {
    const loop = { type: "object", properties: { next: { $ref: "#/$defs/Node" } } };
    const schema = inlined({ $ref: "#/$defs/Node" }, { Node: loop }, 0);
    expect(JSON.stringify(schema)).not.toContain("$ref");
  });
});
