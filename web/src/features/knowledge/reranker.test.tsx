import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { BASE, HIT, MINILM, openPage, serve } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

describe("a rerank model", () => {
  it("is chosen with the number of passages that it receives", async () => {
    const served = serve();
    const { user } = openPage("/knowledge/b1");
    expect(await screen.findByText("Searches are not reranked: it has no rerank model.")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Change rerank model" }));
    await user.type(screen.getByRole("textbox", { name: /Rerank model/ }), "cohere/rerank-v3.5");
    const candidates = screen.getByRole("spinbutton", { name: /Passages to rerank/ });
    await user.clear(candidates);
    await user.type(candidates, "101");
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
    await user.clear(candidates);
    await user.type(candidates, "40");
    served.bases = [{ ...BASE, rerank_model: "cohere/rerank-v3.5", rerank_candidates: 40 }];
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(
      await screen.findByText("cohere/rerank-v3.5 reranks the first 40 passages of a search."),
    ).toBeInTheDocument();
    expect(served.sent).toEqual([{ rerank_model: "cohere/rerank-v3.5", rerank_candidates: 40 }]);
  });

  it("may be one that is on the server", async () => {
    const served = serve();
    served.local = [MINILM, { ...MINILM, name: "ranks", label: "A cross-encoder", use: "rerank" }];
    const { user } = openPage("/knowledge/b1");
    await user.click(await screen.findByRole("button", { name: "Change rerank model" }));
    expect(await screen.findByText("A cross-encoder")).toBeInTheDocument();
    expect(screen.queryByText(MINILM.label)).not.toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Use" }));
    expect(screen.getByRole("textbox", { name: /Rerank model/ })).toHaveValue("local/ranks");
  });

  it("can be pulled where it is chosen, with its progress", async () => {
    const served = serve(["knowledge.view", "knowledge.edit", "models.manage"]);
    const model = { ...MINILM, name: "bge-reranker-v2-m3", label: "bge-reranker-v2-m3", use: "rerank" as const };
    served.local = [{ ...model, size: 600_000_000, ready: false, done: 0 }];
    const { user } = openPage("/knowledge/b1");
    await user.click(await screen.findByRole("button", { name: "Change rerank model" }));
    expect(await screen.findByText(/local\/bge-reranker-v2-m3/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Use" })).not.toBeInTheDocument();
    server.use(
      http.post("*/api/v1/local-models/bge-reranker-v2-m3/fetch", () => {
        served.local = [{ ...model, size: 600_000_000, ready: false, done: 300_000_000, fetching: true }];
        return HttpResponse.json(served.local, { status: 202 });
      }),
    );
    await user.click(screen.getByRole("button", { name: "Download" }));
    expect(await screen.findByRole("progressbar")).toHaveAttribute("aria-valuenow", "50");
  });

  it("explains its order in a search, and can be required or left out", async () => {
    const served = serve();
    served.bases = [{ ...BASE, rerank_model: "cohere/rerank-v3.5" }];
    served.rerankModel = "cohere/rerank-v3.5";
    served.hits = [
      { ...HIT, rerank_score: -0.51, rerank_model: "cohere/rerank-v3.5", first_rank: 4 },
      { ...HIT, ordinal: 2, document: "secret.md", first_rank: 2 },
    ];
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Lisbon{Enter}");
    expect(await screen.findByText(/Reranked by cohere\/rerank-v3.5/)).toBeInTheDocument();
    expect(screen.getByText(/Rank 4 before reranking · Rerank score -0.51$/)).toBeInTheDocument();
    expect(screen.getByText(/Rank 2 before reranking · Not sent to the rerank model$/)).toBeInTheDocument();
    await user.click(screen.getByRole("combobox", { name: "Rerank" }));
    await user.click(await screen.findByRole("option", { name: "Rerank, or fail" }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ rerank: true }));
    await user.click(screen.getByRole("combobox", { name: "Rerank" }));
    await user.click(await screen.findByRole("option", { name: "Do not rerank" }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ rerank: false }));
  });
});
