import type { ReactNode } from "react";
import type { TestCase } from "@/api/queries/codev";
import { expectWords } from "../model/cases";
import { useCodevTexts } from "../texts";

/** Test cases in words: what goes in, and what is expected of the answer. */
export function CaseWords({ cases, actions }: { cases: readonly TestCase[]; actions?: (at: number) => ReactNode }) {
  const t = useCodevTexts();
  return (
    <ol aria-label={t("tests")} className="divide-y divide-line rounded-md border border-line">
      {cases.map((one, at) => (
        <li key={one.name} className="flex items-start gap-2 px-3 py-2">
          <div className="min-w-0 flex-1 text-sm">
            <p className="break-words font-medium">{one.name}</p>
            {one.text && <p className="line-clamp-3 break-words text-muted">{t("quoted", { text: one.text })}</p>}
            {Object.keys(one.form ?? {}).length > 0 && <p className="text-muted">{t("with_form")}</p>}
            <ul className="mt-0.5 text-muted">
              {expectWords(t, one.expect).map((line) => (
                <li key={line} className="break-words">
                  → {line}
                </li>
              ))}
            </ul>
          </div>
          {actions?.(at)}
        </li>
      ))}
    </ol>
  );
}
