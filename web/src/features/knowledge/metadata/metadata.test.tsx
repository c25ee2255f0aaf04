import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { API, BASE, DOCUMENT, openPage, serve } from "../serving";
import { linesOf, metadataOf } from "./lines";

vi.setConfig({ testTimeout: 20_000 });

describe("metadata", () => {
  it("is written one value a line, and typed", () => {
    const metadata = metadataOf("team = sales\n\nyear=2026\nshare = -0.5\ndraft = true\ncode = 007\nnote = a = b\n");
    expect(metadata).toEqual({ team: "sales", year: 2026, share: -0.5, draft: true, code: "007", note: "a = b" });
    expect(metadataOf(linesOf(metadata ?? {}))).toEqual(metadata);
    for (const wrong of ["team", "a b = 1", "= 1"]) expect(metadataOf(wrong)).toBeNull();
  });

  it("of a document is shown and changed", async () => {
    const served = serve();
    served.documents = [{ ...DOCUMENT, metadata: { team: "sales" } }];
    server.use(
      http.get("*/api/v1/spaces/s/members", () => HttpResponse.json({ items: [], next_cursor: null })),
      http.patch(`${API}/b1/documents/d1`, async ({ request }) => {
        served.sent.push(await request.json());
        return HttpResponse.json(DOCUMENT);
      }),
    );
    const { user } = openPage("/knowledge/b1");
    expect(await screen.findByText(/team: sales/)).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: /Readers, retention and metadata of/ }));
    const dialog = within(screen.getByRole("dialog"));
    const lines = dialog.getByRole("textbox", { name: /Metadata/ });
    await user.clear(lines);
    await user.type(lines, "year");
    expect(dialog.getByText(/Each line is a key/)).toBeInTheDocument();
    expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
    await user.type(lines, " = 2026");
    await user.click(dialog.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ metadata: { year: 2026 } }));
  });
});

describe("filters of a search", () => {
  it("are offered from the metadata of documents, and sent", async () => {
    const served = serve();
    served.fields = [
      { key: "team", kind: "text", documents: 2, values: ["hr", "it"] },
      { key: "year", kind: "number", documents: 1, values: [2026] },
    ];
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Value"), "hr, it");
    await user.click(screen.getByRole("combobox", { name: "Test" }));
    await user.click(await screen.findByRole("option", { name: "is one of" }));
    await user.click(screen.getByRole("button", { name: "Add filter" }));
    await user.click(screen.getByRole("combobox", { name: "Metadata" }));
    await user.click(await screen.findByRole("option", { name: "year" }));
    await user.click(screen.getByRole("combobox", { name: "Test" }));
    await user.click(await screen.findByRole("option", { name: "is at least" }));
    await user.type(screen.getByLabelText("Value"), "2024{Enter}");
    await user.type(screen.getByLabelText("Question or words"), "Lisbon{Enter}");
    const filters = [
      { key: "team", in: ["hr", "it"] },
      { key: "year", at_least: 2024 },
    ];
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ filters }));
    await user.click(screen.getByRole("button", { name: "Remove team is one of hr, it" }));
    await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ filters: filters.slice(1) }));
  });

  it("are not shown where no document has metadata", async () => {
    serve();
    openPage("/knowledge/b1?view=search");
    expect(await screen.findByLabelText("Question or words")).toBeInTheDocument();
    expect(screen.queryByText("Filters")).toBeNull();
  });
});

describe("an answer", () => {
  it("says that it is approximate, and why it is by words only", async () => {
    const served = serve();
    served.bases = [{ ...BASE, embedding_model: "openai/small", searched_model: "openai/small" }];
    served.answer = { vector_recall: 0.968 };
    const { user } = openPage("/knowledge/b1?view=search");
    const query = await screen.findByLabelText("Question or words");
    await user.type(query, "Lisbon{Enter}");
    expect(await screen.findByText(/finds 96% of the nearest passages/)).toBeInTheDocument();
    served.answer = { vectors: false, mode: "lexical", words_only: "failed", problem: "No answer." };
    await user.type(query, " again{Enter}");
    expect(await screen.findByText(/^The question could not be embedded\. Lexical search/)).toBeInTheDocument();
    expect(screen.queryByText(/finds 96%/)).toBeNull();
  });
});
