import type { RunSummary, StepSummary } from "@/api/types";
import type { useRunTexts } from "../texts";

type Say = ReturnType<typeof useRunTexts>;

/** Which part of its flow a run carried out, in words; empty for all of it. */
export function partWords(
  run: RunSummary & { steps?: StepSummary[] },
  t: Say,
  names: Record<string, string> = {},
): string {
  const part = run.part;
  if (!part) return "";
  const named = (id: string) => names[id] ?? run.steps?.find((step) => step.step_id === id)?.label ?? id;
  const words = [
    part.only_step ? t("part_only", { step: named(part.only_step) }) : "",
    part.from_step ? t("part_from", { step: named(part.from_step) }) : "",
    part.pinned.length > 0 ? t("part_pinned") : "",
  ];
  return words.filter(Boolean).join(", ");
}
