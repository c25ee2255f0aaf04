import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";
import type { FieldTemplate, Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NodeField } from "./NodeField";

const ORIGIN = window.location.origin;
const FIELD: FieldTemplate = { name: "it", kind: "model", label: "It", default_model: true, required: true };
const KNOWN = {
  provider: "openai",
  name: "gpt-5.4",
  label: "GPT-5.4",
  vision: true,
  context_window: 400000,
  price_in: 1,
  price_out: 4,
};

beforeEach(() => {
  server.use(
    http.get(`${ORIGIN}/api/v1/variables`, () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get(`${ORIGIN}/api/v1/model-classes`, () => HttpResponse.json({ enabled: false, levels: [], items: [] })),
    http.get(`${ORIGIN}/api/v1/models`, () => HttpResponse.json([KNOWN])),
    http.get(`${ORIGIN}/api/v1/providers`, () =>
      HttpResponse.json([{ id: "openai", label: "OpenAI", configured: true, installed: true, settings: [] }]),
    ),
  );
});

function shown() {
  const template: Template = {
    type: "Node",
    label: "Node",
    description: "",
    category: "",
    fields: [FIELD],
    outputs: [{ name: "text", type: "Text", label: "Text" }],
  };
  const store = createDraftStore(flowOut({ form: [], nodes: [{ id: "node", type: "Node", params: {} }], edges: [] }), [
    template,
  ]);
  renderStudio(<NodeField nodeId="node" field={FIELD} />, { store });
  return () => store.getState().document.nodes.node?.params?.it;
}

it("shows the default of steps, and goes back to it", async () => {
  const step = { role: "step", model: "vllm/qwen3", source: "settings", ready: true };
  server.use(http.get(`${ORIGIN}/api/v1/model-roles`, () => HttpResponse.json({ items: [step] })));
  const value = shown();
  expect(await screen.findByText("Default (vllm/qwen3)")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "It" }));
  await userEvent.click(await screen.findByRole("option", { name: /GPT-5.4/ }));
  expect(value()).toBe("openai/gpt-5.4");
  await userEvent.click(screen.getByRole("button", { name: "It" }));
  await userEvent.click(await screen.findByRole("option", { name: "Default (vllm/qwen3)" }));
  expect(value()).toBeUndefined();
});

it("has no default where none was chosen", async () => {
  const step = { role: "step", model: "openai/gpt-5.4", source: "first_ready", ready: true };
  const asked: string[] = [];
  server.use(
    http.get(`${ORIGIN}/api/v1/model-roles`, () => {
      asked.push("roles");
      return HttpResponse.json({ items: [step] });
    }),
  );
  shown();
  await waitFor(() => expect(asked).toEqual(["roles"]));
  expect(await screen.findByText("Choose a model")).toBeVisible();
  expect(screen.queryByText(/Default/)).toBeNull();
});
