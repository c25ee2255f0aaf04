import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/problem";
import { type Approval, approvalKeys, decideApproval } from "@/api/queries/approvals";
import { runKeys } from "@/api/queries/runs";

type Body = Parameters<typeof decideApproval>[1];

/** Sends a decision on what is shown. After it, and after a refusal, the approval is as the server has it. */
export function useDecide({ id, content_hash }: Approval) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => decideApproval(id, { ...body, content_hash }),
    onSuccess: (approval) => {
      queries.setQueryData(approvalKeys.one(id), approval);
      void queries.invalidateQueries({ queryKey: runKeys.one(approval.run_id) });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: approvalKeys.all }),
  });
}

/** Whether a decision came too late, or is about other content than what the approval shows now. */
export function conflictOf(error: unknown): "conflict_decided" | "conflict_changed" | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  return error.code === "approval_content_changed" ? "conflict_changed" : "conflict_decided";
}
