import { fireEvent, screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { KnowledgeDocument, Passage } from "@/api/queries/knowledge";
import { server } from "@/testing/server";
import { API, DOCUMENT, openPage, PASSAGE, serve } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

const PDF: KnowledgeDocument = {
  ...DOCUMENT,
  name: "rules.pdf",
  media_type: "application/pdf",
  pages: 3,
  passages: 3,
};
const SCAN: KnowledgeDocument = { ...PDF, name: "scan.png", media_type: "image/png", pages: 1 };
const MARKS: Passage["marks"] = {
  width: 612,
  height: 792,
  boxes: [
    { left: 72, top: 61, right: 200, bottom: 72 },
    { left: 72, top: 81, right: 300, bottom: 92 },
  ],
};
const passage = (ordinal: number, page: number, text: string, marks: Passage["marks"] = MARKS): Passage => ({
  ...PASSAGE,
  ordinal,
  page,
  text,
  marks,
  sha256: `${"abc"[ordinal]}`.repeat(64),
});
const PASSAGES = [
  passage(0, 1, "Opening hours are 8 to 17."),
  passage(1, 2, "Parking costs 5 EUR."),
  passage(2, 2, "A stamp that was recognised.", null),
];

/** A PDF of three pages, the last without passages; the pages that were drawn. */
function servePdf(document = PDF) {
  serve().documents = [document];
  const drawn: string[] = [];
  server.use(
    http.get(`${API}/b1/documents/d1/passages`, ({ request }) => {
      const page = new URL(request.url).searchParams.get("page");
      return HttpResponse.json(PASSAGES.filter((one) => page === null || one.page === Number(page)));
    }),
    http.get(`${API}/b1/documents/d1/pages/:page`, ({ params, request }) => {
      drawn.push(`${params.page}?${new URL(request.url).searchParams}`);
      return new HttpResponse("picture", { headers: { "content-type": "image/webp" } });
    }),
  );
  return drawn;
}

beforeEach(() => {
  let made = 0;
  URL.createObjectURL = () => `blob:${++made}`;
  URL.revokeObjectURL = () => {};
});

describe("a PDF", () => {
  it("opens at the page of the cited passage, which is marked", async () => {
    const drawn = servePdf();
    openPage(`/knowledge/b1?document=d1&passage=1&cited=${"b".repeat(64)}`);
    fireEvent.load(await screen.findByRole("img", { name: "Page 2 of rules.pdf" }));
    expect(screen.getAllByTestId("mark")).toHaveLength(2);
    expect(screen.getAllByTestId("mark")[0]).toHaveAttribute("x", "71");
    const passages = screen.getByRole("region", { name: "Passages of page 2" });
    expect(within(passages).getByRole("button", { pressed: true })).toHaveTextContent(
      "Cited passageParking costs 5 EUR.",
    );
    expect(drawn).toEqual(["2?version=2"]);
  });

  it("or an image opens as a picture", async () => {
    servePdf(SCAN);
    openPage("/knowledge/b1?document=d1&passage=0");
    fireEvent.load(await screen.findByRole("img", { name: "Page 1 of scan.png" }));
    expect(screen.getAllByTestId("mark")).toHaveLength(2);
  });

  it("marks another passage that is chosen, or says that it cannot", async () => {
    servePdf();
    const { user } = openPage("/knowledge/b1?document=d1&passage=1");
    fireEvent.load(await screen.findByRole("img", { name: "Page 2 of rules.pdf" }));
    await user.click(screen.getByRole("button", { name: /A stamp/ }));
    expect(screen.queryByTestId("mark")).toBeNull();
    expect(screen.getByText("It cannot be marked: its place on the page is not known.")).toBeInTheDocument();
  });

  it("is turned page by page, by number, and not beyond its ends", async () => {
    servePdf();
    const { user } = openPage("/knowledge/b1?document=d1");
    expect(await screen.findByRole("img", { name: "Page 1 of rules.pdf" })).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Previous page" })).toBeDisabled();
    await user.click(screen.getByRole("button", { name: "Next page" }));
    expect(await screen.findByRole("img", { name: "Page 2 of rules.pdf" })).toBeInTheDocument();
    fireEvent.change(screen.getByLabelText("Page number"), { target: { value: "99" } });
    expect(await screen.findByText("This page has no passage.")).toBeInTheDocument();
    expect(screen.getByLabelText("Page number")).toHaveValue(3);
    expect(screen.getByRole("button", { name: "Next page" })).toBeDisabled();
  });

  it("is also shown as text", async () => {
    servePdf();
    const { user } = openPage(`/knowledge/b1?document=d1&passage=1&cited=${"b".repeat(64)}`);
    await user.click(await screen.findByRole("radio", { name: "Text" }));
    expect(screen.getByText("Opening hours are 8 to 17.")).toBeInTheDocument();
    expect(screen.getByText("Parking costs 5 EUR.").tagName).toBe("MARK");
    expect(screen.queryByRole("img")).toBeNull();
  });

  it("says why a page cannot be drawn, with its text", async () => {
    servePdf();
    const problem = {
      code: "extra_not_installed",
      title: "Packages not installed",
      status: 422,
      detail: "Pictures of pages requires packages that are not installed.",
      remedy: "Install them with: pip install 'headgate[ocr]'",
    };
    server.use(http.get(`${API}/b1/documents/d1/pages/:page`, () => HttpResponse.json(problem, { status: 422 })));
    openPage("/knowledge/b1?document=d1");
    expect(await screen.findByText(/pip install 'headgate\[ocr\]'/)).toBeInTheDocument();
    expect(screen.getByText("Opening hours are 8 to 17.")).toBeInTheDocument();
  });
});

it("a document of another format is text only", async () => {
  serve();
  openPage("/knowledge/b1?document=d1");
  expect(await screen.findByText(PASSAGE.text)).toBeInTheDocument();
  expect(screen.queryByRole("radio", { name: "Pages" })).toBeNull();
});
