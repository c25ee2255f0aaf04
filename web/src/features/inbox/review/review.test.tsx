import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ReviewPage } from "./ReviewPage";

const REVIEW = {
  recipient: "Eva",
  flow_name: "Invoices",
  question: "Pay this invoice?",
  tool: "",
  value: { amount: 40, to: "Taxi AB" },
  questions: [
    { id: "centre", label: "Cost centre", type: "number", required: true, min: 1, max: 99 },
    { id: "kinds", label: "Kinds", type: "multiselect", options: ["Travel", "Food"] },
    { id: "seen", label: "I have seen the receipt", type: "checkbox" },
  ],
  editable: ["amount"],
  content_hash: "f00",
  expires_at: "2999-01-01T00:00:00Z",
};

describe("the page of a one-time link", () => {
  it("shows what is asked, and sends the decision with the token only on a click", async () => {
    window.location.hash = "#token=secret";
    const sent: unknown[] = [];
    server.use(
      http.post("*/api/v1/reviews/read", () => HttpResponse.json(REVIEW)),
      http.post("*/api/v1/reviews/decide", async ({ request }) => {
        sent.push(await request.json());
        return new HttpResponse(null, { status: 204 });
      }),
    );
    renderStudio(<ReviewPage />);
    expect(await screen.findByRole("heading", { name: "Pay this invoice?" })).toBeInTheDocument();
    expect(screen.getByText("Taxi AB")).toBeInTheDocument();
    expect(sent).toEqual([]);
    await userEvent.click(screen.getByRole("button", { name: "Approve" }));
    expect(screen.getByRole("alert")).toHaveTextContent("This field is required");
    await userEvent.type(screen.getByLabelText(/Cost centre/), "120");
    expect(screen.getByRole("alert")).toHaveTextContent("At most 99");
    await userEvent.clear(screen.getByLabelText(/Cost centre/));
    await userEvent.type(screen.getByLabelText(/Cost centre/), "12");
    await userEvent.click(screen.getByRole("checkbox", { name: "Food" }));
    expect(sent).toEqual([]);
    await userEvent.click(screen.getByRole("button", { name: "Approve" }));
    expect(await screen.findByText(/Your decision is stored/)).toBeInTheDocument();
    expect(sent).toEqual([
      {
        decision: "approve",
        comment: "",
        answers: { centre: 12, kinds: ["Food"], seen: false },
        edits: {},
        token: "secret",
        content_hash: "f00",
      },
    ]);
  });

  it("says that a used link is not usable", async () => {
    window.location.hash = "#token=used";
    server.use(
      http.post("*/api/v1/reviews/read", () =>
        HttpResponse.json(
          { code: "approval_link_refused", title: "Link not usable", status: 404, detail: "used" },
          { status: 404, headers: { "Content-Type": "application/problem+json" } },
        ),
      ),
    );
    renderStudio(<ReviewPage />);
    expect(await screen.findByText(/This link is not usable/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
  });
});
