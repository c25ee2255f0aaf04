import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { stepQuery } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { type Cited, isCited, KNOWLEDGE_SEARCH } from "../step/KnowledgeCall";

export interface Source extends Cited {
  /** As the answer cites it: [1]. */
  number: number;
}

const NONE: readonly Source[] = [];

/** The passages that an answer from knowledge cites; none where several steps number passages of their own. */
export function useSources(run: RunOut | undefined): readonly Source[] {
  const steps = run?.steps.filter((step) => step.type === "AnswerFromKnowledge" && step.status === "completed") ?? [];
  const only = run?.status === "completed" && steps.length === 1 ? steps[0] : undefined;
  const text = run?.text ?? "";
  const { data: step } = useQuery({ ...stepQuery(run?.id ?? "", only?.step_id ?? ""), enabled: only !== undefined });
  return useMemo(() => {
    const call = step?.tool_calls.find((one) => (one as { name?: unknown } | null)?.name === KNOWLEDGE_SEARCH) as
      | { result?: unknown }
      | undefined;
    if (!isCited(call?.result)) return NONE;
    return call.result
      .map((passage, index) => ({ ...passage, number: index + 1 }))
      .filter(({ number }) => text.includes(`[${number}]`));
  }, [step, text]);
}
