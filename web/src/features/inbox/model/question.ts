import type { ApprovalSummary } from "@/api/queries/approvals";
import { visible } from "@/lib/visible";
import type { useInboxTexts } from "../texts";

/** What is asked, in the language of the page where the server words it. */
export function questionOf(
  t: ReturnType<typeof useInboxTexts>,
  approval: Pick<ApprovalSummary, "question" | "tool">,
): string {
  return visible(approval.tool ? t("tool_question", { tool: approval.tool }) : approval.question);
}
