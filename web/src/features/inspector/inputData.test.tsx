import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import type { Template } from "@/api/types";
import { createDraftStore, staleIn } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { InputData } from "./InputData";
import { SettingsTab } from "./SettingsTab";

const TEMPLATE: Template = {
  type: "Text",
  label: "Text",
  description: "",
  category: "",
  fields: [{ name: "text", kind: "multiline", label: "Words" }],
  outputs: [{ name: "data", type: "Data", label: "Data" }],
};
const DONE = { status: "completed" as const, ms: 1, tokens: null, preview: "", error: "" };

function opened() {
  const step = { output: { outputs: { data: { type: "Data", value: { user: "Ada", city: "Lund" } } } } };
  server.use(http.get("*/api/v1/flow-runs/run-1/steps/a", () => HttpResponse.json(step)));
  const nodes = [
    { id: "a", type: "Text", params: { text: "Hello world" } },
    { id: "b", type: "Text", params: { text: "Dear " } },
  ];
  const edges = [{ source: "a", output: "data", target: "b", input: "data" }];
  const store = createDraftStore(flowOut({ form: [], nodes, edges }), [TEMPLATE]);
  store.getState().showRun({ id: "run-1", status: "completed" }, { a: DONE, b: { ...DONE, status: "failed" } });
  return store;
}

it("puts a value of the run into the field that was edited last", async () => {
  const store = opened();
  const user = userEvent.setup();
  renderStudio(<SettingsTab nodeId="b" />, { store });
  await user.click(screen.getByRole("textbox", { name: /Words/ }));
  await user.click(await screen.findByRole("button", { name: "Insert a.output.user" }));
  expect(store.getState().document.nodes.b?.params?.text).toContain("{{a.output.user}}");
});

it("searches the values, and shows nothing before a run", async () => {
  const store = opened();
  const user = userEvent.setup();
  renderStudio(<InputData nodeId="b" />, { store });
  await user.type(await screen.findByRole("searchbox", { name: "Search values" }), "lund");
  expect(screen.getByRole("button", { name: "Copy the reference a.output.city" })).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Copy the reference a.output.user" })).toBeNull();
  store.getState().showRun(null);
  await waitFor(() => expect(screen.queryByRole("searchbox")).toBeNull());
});

it("shows before a run what an API describes, one page or the items of all, and inserts it", async () => {
  const person = { type: "object", properties: { name: { type: "string" } } };
  const response = { type: "object", properties: { items: { type: "array", items: person } } };
  server.use(
    http.get("*/api/v1/connections", () => HttpResponse.json({ items: [{ id: "c1", name: "tracker" }] })),
    http.get("*/api/v1/connections/c1/operations", () => HttpResponse.json({ items: [{ key: "GET /people" }] })),
    http.get("*/api/v1/connections/c1/operation", () => HttpResponse.json({ response, paging: { items: "items" } })),
  );
  const nodes = [
    { id: "a", type: "ApiCall", params: { connection: "tracker", operation: "GET /people", pages: 1 } },
    { id: "b", type: "Text", params: { text: "Dear " } },
  ];
  const edges = [{ source: "a", output: "data", target: "b", input: "data" }];
  const templates = [TEMPLATE, { ...TEMPLATE, type: "ApiCall", label: "API call" }];
  const store = createDraftStore(flowOut({ form: [], nodes, edges }), templates);
  const user = userEvent.setup();
  renderStudio(<SettingsTab nodeId="b" />, { store });
  await user.click(screen.getByRole("textbox", { name: /Words/ }));
  await user.click(await screen.findByRole("button", { name: "Insert a.output.items.0.name" }));
  expect(store.getState().document.nodes.b?.params?.text).toContain("{{a.output.items.0.name}}");
  expect(screen.getByRole("heading", { name: "Expected data" })).toBeInTheDocument();
  store.getState().setParam("a", "pages", 5);
  expect(await screen.findByRole("button", { name: "Insert a.output.0.name" })).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Insert a variable" }));
  expect(await screen.findByRole("option", { name: /^name ?string$/ })).toBeInTheDocument();
});

it("is outdated when a node before it changed, and current again when that is undone", () => {
  const store = opened();
  const { nodes, edges } = store.getState().document;
  store.getState().setRan({ runId: "run-1", nodes, edges });
  expect([...staleIn(store.getState())]).toEqual([]);
  store.getState().setParam("a", "text", "Goodbye moon");
  expect([...staleIn(store.getState())].sort()).toEqual(["a", "b"]);
  store.getState().setParam("a", "text", "Hello world");
  expect([...staleIn(store.getState())]).toEqual([]);
  store.getState().setParam("a", "text", "Goodbye moon");
  store.getState().showRun({ id: "run-2", status: "running" }, {});
  expect([...staleIn(store.getState())]).toEqual([]);
});
