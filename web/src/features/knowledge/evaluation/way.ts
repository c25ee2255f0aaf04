import type { Evaluation } from "@/api/queries/evaluations";
import type { useKnowledgeTexts } from "../texts";

type Mode = Evaluation["measures"][number]["mode"];

interface Way {
  mode: Mode;
  reranked?: boolean;
  queries?: number;
}

/** How passages were searched, in words. */
export function wayOf(t: ReturnType<typeof useKnowledgeTexts>, { mode, reranked, queries }: Way): string {
  const way = t(`mode_${mode}`);
  if (queries) return t("way_queries", { way, count: queries });
  return reranked ? t("way_reranked", { way }) : way;
}
