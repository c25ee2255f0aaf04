import { Pencil, Trash2 } from "lucide-react";
import type { TestCase } from "@/api/queries/tests";
import { IconButton } from "@/components/ui";
import { listed } from "./expectations";
import { useTestTexts } from "./texts";

interface CaseListProps {
  cases: TestCase[];
  editable: boolean;
  onEdit: (at: number) => void;
  onRemove: (gone: TestCase) => void;
}

/** Each case in words: what goes in, and what has to hold for what comes out. */
export function CaseList({ cases, editable, onEdit, onRemove }: CaseListProps) {
  const t = useTestTexts();
  return (
    <ul className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
      {cases.map((one, at) => (
        <li key={one.name} className="flex items-start gap-2 px-4 py-3">
          <div className="min-w-0 flex-1">
            <h3 className="break-words font-medium">{one.name}</h3>
            <p className="line-clamp-2 break-words text-sm text-muted">
              {one.text ? t("given", { text: one.text }) : t("given_nothing")}
              {Object.keys(one.form ?? {}).length > 0 && ` ${t("and_form")}`}
            </p>
            <Expectations test={one} />
          </div>
          {editable && (
            <div className="flex shrink-0">
              <IconButton label={t("edit", { name: one.name })} size="sm" onClick={() => onEdit(at)}>
                <Pencil />
              </IconButton>
              <IconButton label={t("remove", { name: one.name })} size="sm" onClick={() => onRemove(one)}>
                <Trash2 />
              </IconButton>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

function Expectations({ test }: { test: TestCase }) {
  const t = useTestTexts();
  const rows = listed(test.expect);
  const words = rows.length > 0 ? rows.map(({ kind, text }) => t(`says_${kind}`, { text })) : [t("says_anything")];
  return (
    <p className="mt-0.5 line-clamp-3 break-words text-sm">
      {t("the_answer")} {words.join(", ")}
    </p>
  );
}
