import type { Evaluation } from "@/api/queries/evaluations";
import type { useKnowledgeTexts } from "../texts";

type Mode = Evaluation["measures"][number]["mode"];

/** How passages were searched, in words. */
export function wayOf(t: ReturnType<typeof useKnowledgeTexts>, mode: Mode, reranked = false): string {
  const way = t(`mode_${mode}`);
  return reranked ? t("way_reranked", { way }) : way;
}
