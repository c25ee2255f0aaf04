import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import type { EvaluationDetail, KnowledgeQuestion } from "@/api/queries/evaluations";
import { server } from "@/testing/server";
import { API, addYear, openPage, serve, YEAR } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

const AT = "2026-01-01T00:00:00Z";
const TRAVEL = { id: "d1", name: "travel.md" };
const QUESTION: KnowledgeQuestion = {
  id: "q1",
  question: "Lisbon?",
  documents: [TRAVEL],
  quote: "",
  answer: "68 EUR",
  filters: [],
  created_at: AT,
};
const EVALUATION: EvaluationDetail = {
  id: "e1",
  user_id: "u",
  limit: 10,
  passage_tokens: 400,
  overlap_tokens: 40,
  embedding_model: "",
  rerank_model: "cohere/rerank-v3.5",
  rerank_candidates: 30,
  query_model: "openai/gpt-5-mini",
  queries: 3,
  filters: YEAR,
  passages: 3,
  questions: 2,
  skipped: 1,
  measures: [
    { mode: "lexical", reranked: false, queries: 0, recall: 0.5, ndcg: 0.25, mrr: 0.75, complete: 0 },
    { mode: "lexical", reranked: true, queries: 0, recall: 0.9, ndcg: 0.8, mrr: 0.7, complete: 1 },
    { mode: "lexical", reranked: false, queries: 3, recall: 0.8, ndcg: 0.7, mrr: 0.6, complete: 1 },
  ],
  created_at: AT,
  answers: [
    {
      question_id: "q1",
      question: "Lisbon?",
      documents: [TRAVEL],
      searches: [
        { mode: "lexical", reranked: false, queries: 0, ranks: [null] },
        { mode: "lexical", reranked: true, queries: 0, ranks: [1] },
      ],
    },
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
    http.get("*/api/v1/chat/feedback/b1", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get(`${API}/b1/evaluations`, () => HttpResponse.json(served.evaluations)),
    http.get(`${API}/b1/evaluations/e1`, () => HttpResponse.json(EVALUATION)),
    http.get(`${API}/b1/metadata`, () =>
      HttpResponse.json([{ key: "year", kind: "number", documents: 1, values: [2026] }]),
    ),
    http.post(`${API}/b1/evaluations`, async ({ request }) => {
      served.sent.push(await request.json());
      served.evaluations = [EVALUATION];
      return HttpResponse.json(EVALUATION, { status: 201 });
    }),
  );
  return served;
}

describe("an evaluation", () => {
  it("is made of questions, and shows measures and what was missed", async () => {
    serve();
    const served = serveEvaluations();
    const { user } = openPage("/knowledge/b1?view=evaluation");
    expect(await screen.findByText("Not evaluated yet")).toBeInTheDocument();
    await screen.findByText("Lisbon?");
    await addYear(user, 1);
    await user.click(screen.getByRole("button", { name: "Evaluate" }));
    const row = await screen.findByRole("row", { name: /2 questions · 1 skipped/ });
    const measured = within(row.closest("tbody") as HTMLElement);
    expect(measured.getByText("0.5")).toBeInTheDocument();
    expect(measured.getByText("0 of 1")).toBeInTheDocument();
    expect(within(measured.getByRole("row", { name: /^Words, reranked/ })).getByText("0.9")).toBeInTheDocument();
    expect(
      within(measured.getByRole("row", { name: /^Words, 3 written queries/ })).getByText("0.8"),
    ).toBeInTheDocument();
    expect(measured.getByText(/year is at least 2026/)).toBeInTheDocument();
    expect(served.sent).toEqual([expect.objectContaining({ filters: YEAR })]);
    expect(measured.getByText(/3 queries written by openai\/gpt-5-mini/)).toBeInTheDocument();
    expect(measured.getByText(/reranked by cohere\/rerank-v3.5 \(30 passages\)/)).toBeInTheDocument();
    expect(screen.getByRole("columnheader", { name: "MRR" })).toHaveAttribute("title", expect.stringMatching(/^Mean/));
    expect(await screen.findByText("travel.md: not found")).toBeInTheDocument();
    expect(screen.getByText("travel.md: rank 1")).toBeInTheDocument();
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
    await addYear(user, 0);
    await user.click(screen.getByRole("button", { name: "Add the question" }));
    await vi.waitFor(() =>
      expect(served.sent).toEqual([{ question: "Oslo?", document_ids: ["d1"], quote: "", answer: "", filters: YEAR }]),
    );
  });

  it("gets questions from a search", async () => {
    serve();
    const served = serveEvaluations();
    const { user } = openPage("/knowledge/b1?view=search");
    await user.type(await screen.findByLabelText("Question or words"), "Lisbon{Enter}");
    await user.click(await screen.findByRole("button", { name: "This document answers the question" }));
    await vi.waitFor(() =>
      expect(served.sent).toEqual([{ question: "Lisbon", document_ids: ["d1"], quote: "", answer: "" }]),
    );
  });

  it("is not offered to users who only view", async () => {
    serve(["knowledge.view"]);
    openPage("/knowledge/b1");
    expect(await screen.findByRole("tab", { name: "Search" })).toBeInTheDocument();
    expect(screen.queryByRole("tab", { name: "Evaluation" })).toBeNull();
  });
});

describe("questions", () => {
  it("come from a file, all or none", async () => {
    serve();
    serveEvaluations();
    const sent: unknown[] = [];
    server.use(
      http.post(`${API}/b1/questions/import`, async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ added: [QUESTION], skipped: 2 }, { status: 201 });
      }),
    );
    const { user } = openPage("/knowledge/b1?view=evaluation");
    await screen.findByText(/68 EUR/);
    const file = new File(["question,documents\nLisbon?,travel.md\n"], "questions.csv", { type: "text/csv" });
    await user.upload(screen.getByLabelText("Upload CSV or JSON", { selector: "input" }), file);
    await vi.waitFor(() => expect(sent).toEqual([{ content: "question,documents\nLisbon?,travel.md\n" }]));
  });

  it("are proposed by a model, and added when they are chosen", async () => {
    serve();
    serveEvaluations();
    const sent: unknown[] = [];
    const proposal = (question: string) => ({ question, document: TRAVEL, quote: "68 EUR", answer: "68 EUR" });
    server.use(
      http.get("*/api/v1/providers", () => HttpResponse.json([])),
      http.get("*/api/v1/models", () => HttpResponse.json([])),
      http.get("*/api/v1/model-classes", () => HttpResponse.json({ enabled: false, names: [], classes: [] })),
      http.post(`${API}/b1/questions/proposals`, async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ proposals: [proposal("Lisbon?"), proposal("Oslo?")], rejected: 1, tokens: 90 });
      }),
      http.post(`${API}/b1/questions/import`, async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ added: [QUESTION], skipped: 0 }, { status: 201 });
      }),
    );
    const { user } = openPage("/knowledge/b1?view=evaluation");
    await user.click(await screen.findByRole("button", { name: "Propose with a model" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: /Model/ }));
    await user.type(await screen.findByRole("combobox"), "openai/gpt-5-mini");
    await user.click(await screen.findByRole("option", { name: /openai\/gpt-5-mini/ }));
    await user.click(dialog.getByRole("button", { name: "Propose questions" }));
    expect(await dialog.findByText(/2 questions made, 1 rejected/)).toBeInTheDocument();
    await user.click(dialog.getByRole("checkbox", { name: /Oslo/ }));
    await user.click(dialog.getByRole("button", { name: "Add 1 questions" }));
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    expect(sent[0]).toEqual({ model: "openai/gpt-5-mini", count: 10 });
    const lines = JSON.parse((sent[1] as { content: string }).content) as { question: string; documents: string[] }[];
    expect(lines.map(({ question, documents }) => [question, documents])).toEqual([["Lisbon?", ["travel.md"]]]);
  });

  it("come from feedback of the chat, with its correction", async () => {
    serve();
    const served = serveEvaluations();
    const rated = { run_id: "r1", helpful: false, correction: "68 EUR", created_at: AT, flow_id: "f1" };
    const deleted = vi.fn();
    server.use(
      http.get("*/api/v1/chat/feedback/b1", () =>
        HttpResponse.json({
          items: [{ ...rated, by_visitor: true, question: "Per diem?", answer: "Unknown", documents: [TRAVEL] }],
          next_cursor: null,
        }),
      ),
      http.delete("*/api/v1/chat/feedback/b1/r1", () => {
        deleted();
        return new HttpResponse(null, { status: 204 });
      }),
    );
    const { user } = openPage("/knowledge/b1?view=evaluation");
    expect(await screen.findByText("Visitor")).toBeInTheDocument();
    await user.click(await screen.findByRole("button", { name: "Make “Per diem?” a question" }));
    await vi.waitFor(() => expect(deleted).toHaveBeenCalledOnce());
    expect(served.sent).toEqual([{ question: "Per diem?", document_ids: ["d1"], quote: "", answer: "68 EUR" }]);
  });

  it("say what of the feedback is cut, and that there may be more", async () => {
    serve();
    serveEvaluations();
    const rated = {
      helpful: true,
      correction: "",
      created_at: AT,
      flow_id: "f1",
      question: "Why?",
      documents: [TRAVEL],
    };
    const items = [...Array(50).keys()].map((number) => ({ ...rated, run_id: `r${number}`, answer: "short" }));
    const long = { ...rated, run_id: "long", answer: "x".repeat(10_001) };
    server.use(
      http.get("*/api/v1/chat/feedback/b1", () =>
        HttpResponse.json({ items: [long, ...items.slice(1)], next_cursor: "r49" }),
      ),
    );
    openPage("/knowledge/b1?view=evaluation");
    expect(await screen.findAllByText(/The rest is cut/)).toHaveLength(1);
    expect(screen.getByText(/The 50 newest are shown/)).toBeInTheDocument();
  });
});
