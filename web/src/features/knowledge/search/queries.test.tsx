import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { HIT, openPage, serve } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

describe("queries that a model writes", () => {
  it("are asked for with a model, and explained", async () => {
    const served = serve();
    served.queries = ["Lisbon", "allowance in Lisbon"];
    served.hits = [{ ...HIT, lexical_rank: null, queries: [1] }];
    server.use(
      http.get("*/api/v1/models", () => HttpResponse.json([])),
      http.get("*/api/v1/providers", () => HttpResponse.json([])),
      http.get("*/api/v1/model-classes", () => HttpResponse.json({ enabled: false, names: [], classes: [] })),
    );
    const { user } = openPage("/knowledge/b1?view=search");
    await user.click(await screen.findByRole("combobox", { name: "Written queries" }));
    await user.click(await screen.findByRole("option", { name: "3 queries written by a model" }));
    await user.type(screen.getByLabelText("Question or words"), "Lisbon{Enter}");
    expect(await screen.findByText("Searched: 1. Lisbon · 2. allowance in Lisbon")).toBeInTheDocument();
    expect(screen.getByText(/^Found by query 2 · /)).toBeInTheDocument();
    expect(served.sent.at(-1)).toMatchObject({ query_model: "", queries: 1 });
    await user.click(screen.getByRole("button", { name: /Model that writes queries/ }));
    await user.type(await screen.findByPlaceholderText("Search models…"), "openai/gpt-5-mini");
    await user.click(await screen.findByRole("option", { name: /openai\/gpt-5-mini/ }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ query_model: "openai/gpt-5-mini", queries: 3 }));
  });

  it("are not offered to users who only view", async () => {
    serve(["knowledge.view"]);
    openPage("/knowledge/b1?view=search");
    expect(await screen.findByLabelText("Question or words")).toBeInTheDocument();
    expect(screen.queryByRole("combobox", { name: "Written queries" })).toBeNull();
  });
});
