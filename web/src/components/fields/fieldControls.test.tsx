import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it } from "vitest";
import type { FieldKind, FieldTemplate, JsonValue, Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NodeField } from "./NodeField";

const ORIGIN = window.location.origin;
const page = (items: unknown[]) => HttpResponse.json({ items, next_cursor: null });
let kept: unknown = null;

beforeEach(() => {
  kept = null;
  server.use(
    http.get(`${ORIGIN}/api/v1/variables`, () =>
      page([{ name: "CRM_TOKEN", space_id: "space-1", secret: true, hosts: null, updated_at: "" }]),
    ),
    http.put(`${ORIGIN}/api/v1/variables/:name`, async ({ request, params }) => {
      const space = new URL(request.url).searchParams.get("space_id");
      kept = { name: params.name, space, ...((await request.json()) as object) };
      return HttpResponse.json({});
    }),
    http.get(`${ORIGIN}/api/v1/files`, () =>
      page([{ id: "f1", name: "a.csv", media_type: "text/csv", size_bytes: 3, created_at: "" }]),
    ),
    http.get(`${ORIGIN}/api/v1/mcp-servers`, () => page([{ id: "s1", name: "crm" }])),
    http.get(`${ORIGIN}/api/v1/model-classes`, () => HttpResponse.json({ enabled: false, levels: [], items: [] })),
    http.get(`${ORIGIN}/api/v1/providers`, () =>
      HttpResponse.json([{ id: "openai", label: "OpenAI", configured: true, installed: true, settings: [] }]),
    ),
    http.get(`${ORIGIN}/api/v1/models`, () =>
      HttpResponse.json([
        {
          provider: "openai",
          name: "gpt-5.4",
          label: "GPT-5.4",
          vision: true,
          context_window: 400000,
          price_in: 1,
          price_out: 4,
        },
      ]),
    ),
  );
});

/** A node with one field of a kind, before it a step whose text it may refer to. */
function shown(kind: FieldKind, more: Partial<FieldTemplate> = {}, value?: JsonValue) {
  const field: FieldTemplate = { name: "it", kind, label: "It", ...more };
  const template = (type: string, fields: FieldTemplate[]): Template => ({
    type,
    label: type,
    description: "",
    category: "",
    fields,
    outputs: [{ name: "text", type: "Text", label: "Text" }],
  });
  const store = createDraftStore(
    flowOut({
      form: [{ id: "who", label: "Who" }],
      nodes: [
        { id: "first", type: "First", label: "Fetch" },
        { id: "node", type: "Node", params: value === undefined ? {} : { it: value } },
      ],
      edges: [{ source: "first", output: "text", target: "node", input: "other" }],
    }),
    [template("First", []), template("Node", [field])],
  );
  renderStudio(<NodeField nodeId="node" field={field} />, { store });
  return { set: () => store.getState().document.nodes.node?.params?.it, store };
}

describe("a field", () => {
  it("of text takes what is typed and shows its default as a placeholder", async () => {
    const { set } = shown("text", { default: "hello" });
    const box = screen.getByLabelText("It");
    expect(box).toHaveAttribute("placeholder", "hello");
    await userEvent.type(box, "hi{Enter}you");
    expect(set()).toBe("hiyou");
    await userEvent.click(screen.getByRole("button", { name: "Reset to default: hello" }));
    expect(set()).toBeUndefined();
  });

  it("of several lines gets a variable at the cursor, by its name", async () => {
    const { set } = shown("multiline", {}, "Hi , you");
    const box = screen.getByLabelText<HTMLTextAreaElement>("It");
    box.setSelectionRange(3, 3);
    fireEvent.select(box);
    await userEvent.click(screen.getByRole("button", { name: "Insert a variable" }));
    await userEvent.click(await screen.findByRole("option", { name: /Input: Who/ }));
    expect(set()).toBe("Hi {{flow_input.who}}, you");
  });

  it("marks a reference to nothing, in words", () => {
    shown("multiline", {}, "{{first.text}} {{nobody.output}}");
    expect(screen.getByText(/no step is named “nobody”/)).toBeVisible();
    const marks = document.querySelectorAll("mark");
    expect([...marks].map((one) => one.dataset.reference)).toEqual(["known", "unknown"]);
  });

  it("of a number keeps numbers only", async () => {
    const { set } = shown("number");
    await userEvent.type(screen.getByLabelText("It"), "1,5");
    expect(set()).toBe(1.5);
    await userEvent.type(screen.getByLabelText("It"), "x");
    expect(set()).toBe(1.5);
    expect(screen.getByRole("alert")).toHaveTextContent("Enter a number");
  });

  it("of a whole number refuses a part of one", async () => {
    const { set } = shown("integer", {}, 3);
    await userEvent.type(screen.getByLabelText("It"), ".5");
    expect(screen.getByRole("alert")).toHaveTextContent("whole number");
    expect(set()).toBe(3);
  });

  it("of yes or no is a switch", async () => {
    const { set } = shown("boolean", { default: true });
    await userEvent.click(screen.getByRole("switch", { name: "It" }));
    expect(set()).toBe(false);
  });

  it("of one choice offers them", async () => {
    const { set } = shown("select", { options: ["a", "b"], default: "a" });
    screen.getByRole("combobox", { name: "It" }).focus();
    await userEvent.keyboard("{Enter}");
    await userEvent.click(await screen.findByRole("option", { name: "b" }));
    expect(set()).toBe("b");
  });

  it("of several choices keeps them in their order", async () => {
    const { set } = shown("multiselect", { options: ["a", "b", "c"] }, ["c"]);
    await userEvent.click(screen.getByRole("checkbox", { name: "a" }));
    expect(set()).toEqual(["a", "c"]);
  });

  it("of a secret holds a reference; a new one is kept by the server and its value is nowhere", async () => {
    const { set, store } = shown("secret");
    await userEvent.click(screen.getByRole("button", { name: "New variable" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.type(within(dialog).getByLabelText(/^Name/), "hook-key");
    await userEvent.type(within(dialog).getByLabelText(/^Value/), "s3cret-value");
    await userEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(set()).toEqual({ secret: "HOOK_KEY" }));
    expect(kept).toMatchObject({ name: "HOOK_KEY", value: "s3cret-value", secret: true });
    expect(JSON.stringify(store.getState().document)).not.toContain("s3cret-value");
    await waitFor(() => expect(document.body.innerHTML).not.toContain("s3cret-value"));
  });

  it("of JSON with a schema of texts is a list", async () => {
    const { set } = shown("json", { schema_: { type: "array", items: { type: "string" } } }, ["one"]);
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await userEvent.type(screen.getByLabelText("Entry 2"), "two");
    expect(set()).toEqual(["one", "two"]);
  });

  it("of JSON with a simple schema is a form", async () => {
    const schema_ = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name"],
    };
    const { set } = shown("json", { schema_ });
    await userEvent.type(screen.getByLabelText(/^name/), "Anna");
    await userEvent.type(screen.getByLabelText("age"), "31");
    expect(set()).toEqual({ name: "Anna", age: 31 });
  });

  it("of headers is names and values", async () => {
    const { set } = shown("json", { default: {} });
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await userEvent.type(screen.getByLabelText("Name 1"), "X-Case");
    await userEvent.type(screen.getByLabelText("Value 1"), "42");
    expect(set()).toEqual({ "X-Case": "42" });
  });

  it("of code is an editor", async () => {
    shown("code", {}, "SELECT 1");
    expect(await screen.findByText("SELECT 1")).toBeVisible();
  });

  it("of a table takes what a spreadsheet copies", async () => {
    const { set } = shown("table");
    fireEvent.paste(screen.getByRole("button", { name: /Paste from a spreadsheet/ }), {
      clipboardData: { getData: () => "name\tage\nAnna\t31" },
    });
    expect(set()).toEqual([{ name: "Anna", age: 31 }]);
    await userEvent.click(screen.getByRole("button", { name: "Add row" }));
    await userEvent.type(screen.getByLabelText("name, row 2"), "Bo");
    expect(set()).toEqual([
      { name: "Anna", age: 31 },
      { name: "Bo", age: "" },
    ]);
  });

  it("of a file takes one that is there already", async () => {
    const { set } = shown("file");
    const choose = await screen.findByRole("combobox", { name: "Choose one of your files" });
    choose.focus();
    await userEvent.keyboard("{Enter}");
    await userEvent.click(await screen.findByRole("option", { name: "a.csv" }));
    expect(set()).toEqual({ id: "f1", name: "a.csv", media_type: "text/csv", size: 3 });
  });

  it("of a model refers to a secret as its key", async () => {
    const { set } = shown("model", {}, "openai/gpt-5.4");
    await userEvent.click(await screen.findByText("API key for this step"));
    await userEvent.click(screen.getByLabelText("API key for this step"));
    await userEvent.click(await screen.findByRole("option", { name: "CRM_TOKEN" }));
    expect(set()).toEqual({ provider: "openai", name: "gpt-5.4", api_key: { secret: "CRM_TOKEN" } });
  });

  it("of a model offers known ones with what they cost, and takes any other name", async () => {
    const { set } = shown("model");
    await userEvent.click(screen.getByRole("button", { name: "It" }));
    const known = await screen.findByRole("option", { name: /GPT-5.4/ });
    expect(known).toHaveTextContent("$1.00/$4.00");
    await userEvent.type(screen.getByPlaceholderText("Search models…"), "ollama/own");
    await userEvent.click(await screen.findByRole("option", { name: "Use ollama/own" }));
    expect(set()).toBe("ollama/own");
  });

  it("of tools connects an MCP server by choosing it", async () => {
    const { store } = shown("tools", { types: ["Tool"] });
    await userEvent.click(screen.getByRole("button", { name: "Add a tool" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "crm" }));
    expect(Object.values(store.getState().document.edges)).toContainEqual(
      expect.objectContaining({ output: "tools", target: "node", input: "it" }),
    );
    expect(screen.getByText("MCP tools of crm")).toBeVisible();
  });

  it("of a message is text", async () => {
    const { set } = shown("message");
    await userEvent.type(screen.getByLabelText("It"), "hello");
    expect(set()).toBe("hello");
  });

  it("shows the server's word on it, and where an edge fills it", () => {
    const { store } = shown("text", { name: "other", types: ["Text"] });
    act(() => store.setState({ issues: [{ code: "x", message: "Too long.", node: "node", field: "other" }] }));
    expect(screen.getByRole("button", { name: "Disconnect Fetch" })).toBeVisible();
    expect(screen.getByRole("alert")).toHaveTextContent("Too long.");
  });
});
