import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { API, BASE, DOCUMENT, HIT, MINILM, openPage, serve, TEXT } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

describe("the list of knowledge bases", () => {
  it("explains what one is for when there is none", async () => {
    serve().bases = [];
    openPage("/knowledge");
    expect(await screen.findByText("No knowledge base yet")).toBeInTheDocument();
    expect(screen.getAllByRole("button", { name: "New knowledge base" })).toHaveLength(1);
  });

  it("offers nothing to create to users who only view", async () => {
    serve(["knowledge.view"]).bases = [];
    openPage("/knowledge");
    expect(await screen.findByText("No knowledge base yet")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "New knowledge base" })).toBeNull();
  });

  it("shows numbers, and opens a base", async () => {
    serve().bases = [{ ...BASE, documents: 3, waiting: 1, failed: 1 }];
    const { user } = openPage("/knowledge");
    const list = await screen.findByRole("list", { name: "Knowledge bases" });
    expect(await within(list).findByText("3 documents · 1 waiting · 1 failed")).toBeInTheDocument();
    await user.click(within(list).getByRole("link", { name: /Handbook/ }));
    expect(await screen.findByRole("heading", { name: "Handbook" })).toBeInTheDocument();
  });

  it("stays visible for an address without a base", async () => {
    serve();
    openPage("/knowledge/gone");
    const list = await screen.findByRole("list", { name: "Knowledge bases" });
    expect(await within(list).findByText("Handbook")).toBeInTheDocument();
    expect(screen.getByText("Select a knowledge base to see its documents.")).toBeInTheDocument();
    expect(list.parentElement?.parentElement).not.toHaveClass("hidden");
  });

  it("shows a problem of the server and asks again", async () => {
    serve();
    let fails = true;
    server.use(
      http.get(API, () =>
        fails
          ? HttpResponse.json(
              { code: "database_away", title: "Unavailable", status: 503, detail: "The database cannot be reached." },
              { status: 503 },
            )
          : HttpResponse.json({ items: [BASE], next_cursor: null }),
      ),
    );
    const { user } = openPage("/knowledge");
    expect(await screen.findByText(/The database cannot be reached/)).toBeInTheDocument();
    fails = false;
    await user.click(screen.getByRole("button", { name: /again/i }));
    expect(await screen.findByText("Handbook")).toBeInTheDocument();
  });
});

describe("the documents of a base", () => {
  it("are added by upload, without readers or classification", async () => {
    const served = serve();
    served.documents = [];
    server.use(
      http.post("*/api/v1/files", () => HttpResponse.json({ id: "f1" }, { status: 201 })),
      http.post(`${API}/b1/documents`, async ({ request }) => {
        served.sent.push(await request.json());
        served.documents = [{ ...DOCUMENT, status: "pending" }];
        return HttpResponse.json(served.documents[0], { status: 201 });
      }),
    );
    const { user } = openPage("/knowledge/b1");
    expect(await screen.findByText("No documents yet")).toBeInTheDocument();
    await user.upload(screen.getByLabelText(/Drop documents here/), new File(["text"], "travel.md"));
    expect(await screen.findByText("travel.md")).toBeInTheDocument();
    expect(screen.getByText("Waiting")).toBeInTheDocument();
    expect(served.sent).toEqual([{ file_id: "f1", source: "upload", language: "" }]);
  });

  it("show why an upload was refused until it is dismissed", async () => {
    serve();
    const refusal = { code: "file_too_large", title: "Too large", status: 413, detail: "The file is too large." };
    server.use(http.post("*/api/v1/files", () => HttpResponse.json(refusal, { status: 413 })));
    const { user } = openPage("/knowledge/b1");
    await user.upload(await screen.findByLabelText(/Drop documents here/), new File(["text"], "big.pdf"));
    expect(await screen.findByText("big.pdf was not added")).toBeInTheDocument();
    expect(screen.getByText(/The file is too large/)).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText("big.pdf was not added")).toBeNull();
  });

  it("show why the last attempt to read one failed", async () => {
    const problem = "Attempt 2 of 8 failed: The storage does not answer.";
    serve().documents = [{ ...DOCUMENT, status: "pending", problem }];
    openPage("/knowledge/b1");
    expect(await screen.findByText(problem)).toBeInTheDocument();
  });

  it("can be viewed but not changed without the permission", async () => {
    serve(["knowledge.view"]);
    openPage("/knowledge/b1");
    expect(await screen.findByText("travel.md")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Index again" })).toBeNull();
    expect(screen.queryByLabelText(/Drop documents here/)).toBeNull();
  });

  it("are deleted after a confirmation", async () => {
    const served = serve();
    const deleted = vi.fn();
    server.use(
      http.delete(`${API}/b1/documents/d1`, () => {
        deleted();
        served.documents = [];
        return new HttpResponse(null, { status: 204 });
      }),
    );
    const { user } = openPage("/knowledge/b1");
    await user.click(await screen.findByRole("button", { name: "Delete travel.md" }));
    expect(deleted).not.toHaveBeenCalled();
    await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
    expect(await screen.findByText("No documents yet")).toBeInTheDocument();
    expect(deleted).toHaveBeenCalledOnce();
  });
});

describe("an embedding model", () => {
  it("is chosen, and its progress is shown while the previous search goes on", async () => {
    const served = serve();
    const { user } = openPage("/knowledge/b1");
    expect(await screen.findByText("Searched by words only: it has no embedding model.")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Change model" }));
    await user.type(screen.getByRole("textbox", { name: /Embedding model/ }), "openai/small");
    served.bases = [
      { ...BASE, embedding_model: "openai/small", passages: 9, passages_embedded: 4, embedding_tokens: 80 },
    ];
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("openai/small: 4 of 9 passages embedded, 80 tokens used.")).toBeInTheDocument();
    expect(screen.getByText("Until all are embedded, searches are by words only.")).toBeInTheDocument();
    expect(served.sent).toEqual([{ embedding_model: "openai/small" }]);
  });
});

describe("the retention of a base", () => {
  it("is chosen in days", async () => {
    const served = serve();
    const { user } = openPage("/knowledge/b1");
    expect(await screen.findByText("Documents are kept until they are deleted.")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Change retention" }));
    const days = screen.getByRole("spinbutton", { name: /Days/ });
    await user.clear(days);
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
    await user.type(days, "30");
    served.bases = [{ ...BASE, retention_days: 30 }];
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Documents are deleted 30 days after their last version.")).toBeInTheDocument();
    expect(served.sent).toEqual([{ retention_days: 30 }]);
  });
});

describe("an embedding model on the server", () => {
  it("is that of a new base, unless another is chosen", async () => {
    const served = serve();
    served.local = [{ ...MINILM, name: "talks", label: "Talks", use: "chat" }, MINILM];
    const { user } = openPage("/knowledge");
    await user.click(await screen.findByRole("button", { name: "New knowledge base" }));
    expect(await screen.findByDisplayValue("local/all-minilm-l6-v2")).toBeInTheDocument();
    expect(screen.queryByText("Talks")).toBeNull();
    await user.type(screen.getByRole("textbox", { name: /Name/ }), "Rules");
    await user.click(screen.getByRole("button", { name: "Create" }));
    await waitFor(() =>
      expect(served.sent).toMatchObject([{ name: "Rules", embedding_model: "local/all-minilm-l6-v2" }]),
    );
  });

  it("is downloaded and chosen where a base gets its model", async () => {
    const served = serve(["knowledge.view", "knowledge.edit", "models.manage"]);
    served.local = [{ ...MINILM, ready: false, done: 0 }];
    server.use(
      http.post("*/api/v1/local-models/all-minilm-l6-v2/fetch", () => {
        served.local = [MINILM];
        return HttpResponse.json(served.local, { status: 202 });
      }),
    );
    const { user } = openPage("/knowledge/b1");
    await user.click(await screen.findByRole("button", { name: "Change model" }));
    await user.click(await screen.findByRole("button", { name: "Download" }));
    await user.click(await screen.findByRole("button", { name: "Use" }));
    expect(screen.getByRole("textbox", { name: /Embedding model/ })).toHaveValue("local/all-minilm-l6-v2");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(served.sent).toEqual([{ embedding_model: "local/all-minilm-l6-v2" }]));
  });
});

describe("a search", () => {
  it("shows passages with score and words, and opens one in its document", async () => {
    const served = serve();
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Lisbon{Enter}");
    expect(await screen.findByText(TEXT)).toBeInTheDocument();
    expect(screen.getByText("Score 1")).toBeInTheDocument();
    expect(screen.getByText("Matches: lisbon · Rank 1 by words")).toBeInTheDocument();
    expect(served.sent).toMatchObject([{ query: "Lisbon", limit: 10, mode: null, rerank: null, query_model: "" }]);
    await user.click(screen.getByRole("link", { name: "Open in the document" }));
    expect(await screen.findByText("Cited passage")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Download travel.md" })).toHaveAttribute(
      "href",
      "/api/v1/knowledge-bases/b1/documents/d1/content",
    );
  });

  it("by meaning says the rank in each list, and can be by words only", async () => {
    const served = serve();
    served.bases = [{ ...BASE, embedding_model: "openai/small", searched_model: "openai/small" }];
    served.hits = [
      { ...HIT, matched: [], lexical_rank: null, vector_rank: 1, similarity: 0.81, embedding_model: "openai/small" },
    ];
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Portugal{Enter}");
    expect(await screen.findByText("Rank 1 by meaning (similarity 0.81, openai/small)")).toBeInTheDocument();
    expect(screen.getByText(/the ranks in both lists are fused/)).toBeInTheDocument();
    await user.click(screen.getByRole("radio", { name: "Words" }));
    expect(await screen.findByText(/Lexical search/)).toBeInTheDocument();
    expect(served.sent.map((body) => (body as { mode: string }).mode)).toEqual(["hybrid", "lexical"]);
  });

  it("can return passages with their neighbours, and without repetitions", async () => {
    const served = serve();
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Lisbon{Enter}");
    expect(screen.getByRole("combobox", { name: "Neighbours" })).toHaveTextContent("Passages alone");
    for (const name of ["Neighbours", "Diversity", "Written queries"]) expect(screen.getByText(name)).toBeVisible();
    await user.click(screen.getByRole("combobox", { name: "Neighbours" }));
    await user.click(await screen.findByRole("option", { name: "With 1 neighbour on each side" }));
    await user.click(screen.getByRole("combobox", { name: "Diversity" }));
    await user.click(await screen.findByRole("option", { name: "Less repetition" }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ neighbours: 1, diversity: 0.3 }));
  });

  it("says that nothing matches", async () => {
    serve().hits = [];
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "walrus{Enter}");
    expect(await screen.findByText("No passage matches")).toBeInTheDocument();
  });
});
