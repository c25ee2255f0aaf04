import { Pencil, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import type { TestCase } from "@/api/queries/tests";
import { IconButton } from "@/components/ui";
import { listed } from "./expectations";
import { useCaseTexts } from "./texts";

interface CaseListProps {
  cases: readonly TestCase[];
  /** What is to be said of one beside its name. */
  mark?: (one: TestCase) => ReactNode;
  /** Absent: they are only looked at. */
  onEdit?: ((at: number) => void) | undefined;
  onRemove?: ((at: number) => void) | undefined;
}

/** Each case in words: what goes in, and what has to hold for what comes out. */
export function CaseList({ cases, mark, onEdit, onRemove }: CaseListProps) {
  const t = useCaseTexts();
  return (
    <ul aria-label={t("tests")} className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
      {cases.map((one, at) => (
        <li key={`${at} ${one.name}`} className="flex items-start gap-2 px-4 py-3">
          <div className="min-w-0 flex-1">
            <h4 className="break-words font-medium">
              {one.name} {mark?.(one)}
            </h4>
            <CaseWords test={one} />
          </div>
          {onEdit && onRemove && (
            <div className="flex shrink-0">
              <IconButton label={t("edit", { name: one.name })} size="sm" onClick={() => onEdit(at)}>
                <Pencil />
              </IconButton>
              <IconButton label={t("remove", { name: one.name })} size="sm" onClick={() => onRemove(at)}>
                <Trash2 />
              </IconButton>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What goes in, and what has to hold for what comes out. */
export function CaseWords({ test }: { test: TestCase }) {
  const t = useCaseTexts();
  const expected = useExpectedWords();
  return (
    <>
      <p className="line-clamp-3 break-words text-sm text-muted">
        {test.text ? t("given", { text: test.text }) : t("given_nothing")}
        {Object.keys(test.form ?? {}).length > 0 && ` ${t("and_form")}`}
        {(test.file_ids ?? []).length > 0 && ` ${t("and_files", { count: test.file_ids?.length ?? 0 })}`}
      </p>
      <p className="mt-0.5 line-clamp-6 break-words text-sm">
        {t("the_answer")} {expected(test.expect).join(", ")}
      </p>
    </>
  );
}

/** What a case expects, to be read after "the answer", one thing each. */
export function useExpectedWords(): (expect: TestCase["expect"]) => string[] {
  const t = useCaseTexts();
  return (expect) => {
    const rows = listed(expect);
    return rows.length > 0 ? rows.map(({ kind, text }) => t(`says_${kind}`, { text })) : [t("says_anything")];
  };
}
