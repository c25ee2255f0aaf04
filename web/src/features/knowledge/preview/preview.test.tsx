import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { API, BASE, DOCUMENT, openPage, serve } from "../serving";
import { numbersOf } from "./sizes";

vi.setConfig({ testTimeout: 20_000 });

const PASSAGE = { start: 0, core: 4, end: 12, page: 3, context: "Travel", text: "One Two three", tokens: 7 };
const PREVIEW = {
  ...{ passage_tokens: 400, overlap_tokens: 40, characters: 900, pages: 3, notes: ["A picture was not read."] },
  ...{ passages: 2, tokens: 14, smallest: 7, largest: 9, shown: [PASSAGE] },
};

function servePreview() {
  const served = serve();
  const asked: URLSearchParams[] = [];
  server.use(
    http.post(`${API}/b1/preview`, ({ request }) => {
      asked.push(new URL(request.url).searchParams);
      return HttpResponse.json(PREVIEW);
    }),
    http.post("*/api/v1/files", () => HttpResponse.json({ id: "f1" }, { status: 201 })),
    http.post(`${API}/b1/documents`, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(DOCUMENT, { status: 201 });
    }),
  );
  return { served, asked };
}

it("a file is previewed before it is added, with other sizes", async () => {
  const { served, asked } = servePreview();
  const { user } = openPage("/knowledge/b1");
  await user.click(await screen.findByRole("switch", { name: "Preview passages before adding" }));
  await user.click(screen.getByText("Metadata of new documents"));
  await user.type(screen.getByRole("textbox", { name: /Metadata/ }), "team = hr");
  await user.upload(screen.getByLabelText(/Drop documents here/), new File(["One Two three"], "plan.md"));
  const dialog = within(await screen.findByRole("dialog"));
  expect(await dialog.findByText("2 passages of 7 to 9 tokens, 14 in all.")).toBeInTheDocument();
  expect(dialog.getByText("1: 7 tokens")).toBeInTheDocument();
  expect(dialog.getByText("A picture was not read.")).toBeInTheDocument();
  const tokens = dialog.getByRole("spinbutton", { name: "Tokens of a passage" });
  await user.clear(tokens);
  await user.type(tokens, "100");
  await waitFor(() => expect(asked.at(-1)?.get("passage_tokens")).toBe("100"));
  expect(dialog.getByText(/^A trial/)).toBeInTheDocument();
  expect(served.sent).toEqual([]);
  await user.click(dialog.getByRole("button", { name: "Add document" }));
  await waitFor(() => expect(served.sent.at(-1)).toMatchObject({ file_id: "f1", metadata: { team: "hr" } }));
});

it("the size of passages is chosen with a preview on a document", async () => {
  const { served, asked } = servePreview();
  const { user } = openPage("/knowledge/b1");
  expect(await screen.findByText("Passages of up to 400 tokens, plus up to 40 of the one before.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Change passage size" }));
  const dialog = within(screen.getByRole("dialog"));
  await user.click(dialog.getByRole("combobox", { name: "Preview on a document" }));
  await user.click(await screen.findByRole("option", { name: "travel.md" }));
  expect(await dialog.findByText("1: 7 tokens")).toBeInTheDocument();
  expect(asked.at(-1)?.get("document_id")).toBe("d1");
  const overlap = dialog.getByRole("spinbutton", { name: "Overlap in tokens" });
  await user.clear(overlap);
  expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await user.type(overlap, "0");
  await user.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(served.sent.at(-1)).toEqual({ passage_tokens: BASE.passage_tokens, overlap_tokens: 0 }));
});

it("sizes have bounds", () => {
  expect(numbersOf({ passage_tokens: "49", overlap_tokens: "0" })).toBeNull();
  expect(numbersOf({ passage_tokens: "400", overlap_tokens: "501" })).toBeNull();
  expect(numbersOf({ passage_tokens: "4e2", overlap_tokens: "0" })).toBeNull();
  expect(numbersOf({ passage_tokens: "2000", overlap_tokens: "500" })).not.toBeNull();
});
