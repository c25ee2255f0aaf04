import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { TestCase } from "@/api/queries/codev";
import { CaseDialog, CaseList } from "@/components/cases";
import { Button } from "@/components/ui";
import { useCodevTexts } from "../texts";

interface PlanCasesProps {
  cases: TestCase[];
  trials: number;
  onChange: (cases: TestCase[]) => void;
}

const MOST_CASES = 50;

/** The tests of a plan, to be read, changed, added and removed. */
export function PlanCases({ cases, trials, onChange }: PlanCasesProps) {
  const t = useCodevTexts();
  /** The place of the case that is open; the end of the list for a new one. */
  const [open, setOpen] = useState<number | null>(null);
  const adding = useRef<HTMLButtonElement>(null);
  const editing = open === null ? undefined : cases[open];
  const keep = (next: TestCase) => {
    onChange(editing ? cases.map((one, at) => (at === open ? next : one)) : [...cases, next]);
    setOpen(null);
  };
  return (
    <section aria-label={t("tests")} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="font-medium">{t("tests")}</h3>
        {cases.length > 0 && (
          <span className="text-sm text-muted">
            {cases.length} · {t("each_run", { count: trials })}
          </span>
        )}
        <Button
          ref={adding}
          size="sm"
          className="ml-auto"
          icon={<Plus />}
          disabled={cases.length >= MOST_CASES}
          onClick={() => setOpen(cases.length)}
        >
          {t("add_case")}
        </Button>
      </div>
      {cases.length === 0 ? (
        <p className="text-sm text-warn">{t("no_cases")}</p>
      ) : (
        <CaseList
          cases={cases}
          onEdit={setOpen}
          onRemove={(at) => {
            onChange(cases.filter((_, place) => place !== at));
            adding.current?.focus();
          }}
        />
      )}
      {open !== null && (
        <CaseDialog
          test={editing}
          taken={cases.filter((_, at) => at !== open).map(({ name }) => name)}
          onKeep={keep}
          onClose={() => setOpen(null)}
        />
      )}
    </section>
  );
}
