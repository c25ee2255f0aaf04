import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import type { EvaluationDetail, KnowledgeQuestion } from "@/api/queries/evaluations";
import { server } from "@/testing/server";
import { API, openPage, serve } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

const AT = "2026-01-01T00:00:00Z";
const TRAVEL = { id: "d1", name: "travel.md" };
const QUESTION: KnowledgeQuestion = { id: "q1", question: "Lisbon?", documents: [TRAVEL], quote: "", created_at: AT };
const EVALUATION: EvaluationDetail = {
  id: "e1",
  user_id: "u",
  limit: 10,
  passage_tokens: 400,
  overlap_tokens: 40,
  embedding_model: "",
  passages: 3,
  questions: 2,
  skipped: 1,
  measures: [{ mode: "lexical", recall: 0.5, ndcg: 0.25, mrr: 0.75, complete: 0 }],
  created_at: AT,
  answers: [
    { question_id: "q1", question: "Lisbon?", documents: [TRAVEL], searches: [{ mode: "lexical", ranks: [null] }] },
    { question_id: "q2", question: "Oslo?", documents: [], searches: [] },
  ],
};

function serveEvaluations() {
  const served = { questions: [QUESTION], evaluations: [] as EvaluationDetail[], sent: [] as unknown[] };
  server.use(
    http.get(`${API}/b1/questions`, () => HttpResponse.json(served.questions)),
    http.post(`${API}/b1/questions`, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(QUESTION, { status: 201 });
    }),
    http.delete(`${API}/b1/questions/q1`, () => {
      served.questions = [];
      return new HttpResponse(null, { status: 204 });
    }),
    http.get(`${API}/b1/evaluations`, () => HttpResponse.json(served.evaluations)),
    http.get(`${API}/b1/evaluations/e1`, () => HttpResponse.json(EVALUATION)),
    http.post(`${API}/b1/evaluations`, () => {
      served.evaluations = [EVALUATION];
      return HttpResponse.json(EVALUATION, { status: 201 });
    }),
  );
  return served;
}

describe("an evaluation", () => {
  it("is made of questions, and shows measures and what was missed", async () => {
    serve();
    serveEvaluations();
    const { user } = openPage("/knowledge/b1?view=evaluation");
    expect(await screen.findByText("Not evaluated yet")).toBeInTheDocument();
    await screen.findByText("Lisbon?");
    await user.click(screen.getByRole("button", { name: "Evaluate" }));
    const row = await screen.findByRole("row", { name: /2 questions · 1 skipped/ });
    const measured = within(row.closest("tbody") as HTMLElement);
    expect(measured.getByText("0.5")).toBeInTheDocument();
    expect(measured.getByText("0 of 1")).toBeInTheDocument();
    expect(screen.getByRole("columnheader", { name: "MRR" })).toHaveAttribute("title", expect.stringMatching(/^Mean/));
    expect(await screen.findByText("travel.md: not found")).toBeInTheDocument();
    expect(screen.getByText(/^Skipped:/)).toBeInTheDocument();
  });

  it("needs a question with a document", async () => {
    serve();
    const served = serveEvaluations();
    served.questions = [];
    const { user } = openPage("/knowledge/b1?view=evaluation");
    expect(await screen.findByText("No questions yet")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Evaluate" })).toBeDisabled();
    await user.type(screen.getByLabelText("A question that users ask"), "Oslo?");
    expect(screen.getByRole("button", { name: "Add the question" })).toBeDisabled();
    await user.click(screen.getByRole("combobox", { name: "Documents that answer it" }));
    await user.click(await screen.findByRole("option", { name: "travel.md" }));
    await user.click(screen.getByRole("button", { name: "Add the question" }));
    await vi.waitFor(() => expect(served.sent).toEqual([{ question: "Oslo?", document_ids: ["d1"], quote: "" }]));
  });

  it("gets questions from a search", async () => {
    serve();
    const served = serveEvaluations();
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Lisbon{Enter}");
    await user.click(await screen.findByRole("button", { name: "This document answers the question" }));
    await vi.waitFor(() => expect(served.sent).toEqual([{ question: "Lisbon", document_ids: ["d1"], quote: "" }]));
  });

  it("is not offered to users who only view", async () => {
    serve(["knowledge.view"]);
    openPage("/knowledge/b1");
    expect(await screen.findByRole("tab", { name: "Search" })).toBeInTheDocument();
    expect(screen.queryByRole("tab", { name: "Evaluation" })).toBeNull();
  });
});
