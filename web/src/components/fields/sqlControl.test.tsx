import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import type { Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { NodeField } from ".";

const column = { type: "INTEGER", nullable: false, key: false, references: "" };
const TABLES = [
  {
    name: "order",
    sql: '"order"',
    columns: [
      { ...column, name: "id", sql: "id", key: true },
      { ...column, name: "who", sql: "who", references: "customer.id" },
    ],
  },
];
const SQL: Template = {
  type: "SqlQuery",
  label: "SQL query",
  description: "",
  category: "",
  fields: [{ name: "sql", kind: "code", label: "SQL", interpolate: false }],
};

it("puts names of tables and columns where the cursor is, quoted as the database needs it", async () => {
  server.use(
    http.get("*/api/v1/connections", () => HttpResponse.json({ items: [{ id: "c1", name: "shop" }] })),
    http.get("*/api/v1/connections/c1/tables", ({ request }) => {
      const words = new URL(request.url).searchParams.get("q") ?? "";
      return HttpResponse.json({ items: words === "nothing" ? [] : TABLES, next_cursor: null });
    }),
  );
  const node = { id: "q", type: "SqlQuery", params: { database: "shop", sql: "" } };
  const store = createDraftStore(flowOut({ form: [], nodes: [node], edges: [] }), [SQL]);
  const field = SQL.fields?.[0];
  if (!field) throw new Error("no field");
  renderStudio(<NodeField nodeId="q" field={field} />, { store });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Tables and columns" }));
  const table = await screen.findByRole("button", { name: "Insert order" });
  await screen.findByRole("textbox", { name: "SQL" });
  await user.click(table);
  expect(store.getState().document.nodes.q?.params?.sql).toBe('"order"');
  await user.click(screen.getByRole("button", { name: "Insert who" }));
  expect(store.getState().document.nodes.q?.params?.sql).toBe('"order"who');
  expect(screen.getByLabelText("Primary key")).toBeInTheDocument();
  expect(screen.getByText("→ customer.id")).toBeInTheDocument();
  await user.type(screen.getByRole("searchbox"), "nothing");
  expect(await screen.findByText("No table or column has this name.")).toBeInTheDocument();
});
