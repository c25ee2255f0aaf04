import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type KnowledgeQuestion = Schemas["QuestionOut"];
export type Evaluation = Schemas["EvaluationOut"];
export type EvaluationDetail = Schemas["EvaluationDetail"];

export const evaluationKeys = {
  questions: (base: string) => ["knowledge", base, "questions"] as const,
  evaluations: (base: string) => ["knowledge", base, "evaluations"] as const,
  evaluation: (base: string, id: string) => ["knowledge", base, "evaluations", id] as const,
};

/** The questions of a base with the documents that answer them. */
export const questionsQuery = (base_id: string) =>
  queryOptions({
    queryKey: evaluationKeys.questions(base_id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/knowledge-bases/{base_id}/questions", { params: { path: { base_id } }, signal })),
  });

/** The evaluations of a base, newest first. */
export const evaluationsQuery = (base_id: string) =>
  queryOptions({
    queryKey: evaluationKeys.evaluations(base_id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/knowledge-bases/{base_id}/evaluations", { params: { path: { base_id } }, signal })),
  });

/** An evaluation with its questions. */
export const evaluationQuery = (base_id: string, evaluation_id: string) =>
  queryOptions({
    queryKey: evaluationKeys.evaluation(base_id, evaluation_id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/evaluations/{evaluation_id}", {
          params: { path: { base_id, evaluation_id } },
          signal,
        }),
      ),
  });

export type Proposals = Schemas["ProposalsOut"];

export const addQuestion = (base_id: string, question: Schemas["QuestionIn"]) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/questions", {
      params: { path: { base_id } },
      body: question,
    }),
  );

/** Adds the questions of a file, CSV or JSON. */
export const addQuestions = (base_id: string, content: string) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/questions/import", {
      params: { path: { base_id } },
      body: { content },
    }),
  );

/** Questions that a model makes from passages; they are not stored. */
export const proposeQuestions = (base_id: string, model: string) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/questions/proposals", {
      params: { path: { base_id } },
      body: { model, count: 10 },
    }),
  );

export const deleteQuestion = (base_id: string, question_id: string) =>
  unwrap(
    api.DELETE("/api/v1/knowledge-bases/{base_id}/questions/{question_id}", {
      params: { path: { base_id, question_id } },
    }),
  );

export const evaluate = (
  base_id: string,
  options: { query_model: string; queries: number; filters: Schemas["Condition"][] },
) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/evaluations", {
      params: { path: { base_id } },
      body: { limit: 10, rerank: true, ...options },
    }),
  );
