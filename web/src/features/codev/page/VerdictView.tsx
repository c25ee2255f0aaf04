import { Chip } from "@/components/ui";
import type { Verdict } from "../model/known";
import { type CodevText, useCodevTexts } from "../texts";

const KNOWN = new Set(["CREDENTIAL", "STRUCTURE", "LOGIC", "INCOMPLETE"]);

/** Why an iteration was not the last: of what kind the fault is, what it is, what is done about it. */
export function VerdictView({ verdict }: { verdict: Verdict }) {
  const t = useCodevTexts();
  const { category, reason, fix } = verdict;
  return (
    <section aria-label={t("verdict")} className="rounded-md border border-warn/25 bg-warn-soft px-3 py-2.5 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium text-warn">{t("verdict")}</span>
        {category && <Chip tone="warn">{KNOWN.has(category) ? t(`category_${category}` as CodevText) : category}</Chip>}
      </p>
      {reason && <p className="mt-1 whitespace-pre-wrap break-words">{reason}</p>}
      {fix && (
        <p className="mt-1 whitespace-pre-wrap break-words">
          <span className="font-medium">{t("fix")}:</span> {fix}
        </p>
      )}
    </section>
  );
}
