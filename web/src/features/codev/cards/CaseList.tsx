import { PencilLine, Plus, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import type { TestCase } from "@/api/queries/codev";
import { Button, IconButton } from "@/components/ui";
import { useCodevTexts } from "../texts";
import { CaseDialog } from "./CaseDialog";
import { CaseWords } from "./CaseWords";

interface CaseListProps {
  cases: TestCase[];
  trials: number;
  onChange: (cases: TestCase[]) => void;
}

const MOST_CASES = 50;

/** The tests of a plan, to be read, changed, added and removed. */
export function CaseList({ cases, trials, onChange }: CaseListProps) {
  const t = useCodevTexts();
  /** The place of the case that is open; the end of the list for a new one. */
  const [open, setOpen] = useState<number | null>(null);
  const adding = useRef<HTMLButtonElement>(null);
  const editing = open === null ? null : (cases[open] ?? null);
  const keep = (next: TestCase) => {
    onChange(editing ? cases.map((one, at) => (at === open ? next : one)) : [...cases, next]);
    setOpen(null);
  };
  return (
    <section aria-label={t("tests")} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">{t("tests")}</h3>
        <span className="mr-auto text-xs text-muted">{t("each_run", { count: trials })}</span>
        <Button
          ref={adding}
          size="sm"
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
        <CaseWords
          cases={cases}
          actions={(at) => (
            <span className="flex shrink-0">
              <IconButton size="sm" label={t("edit_case", { name: cases[at]?.name ?? "" })} onClick={() => setOpen(at)}>
                <PencilLine />
              </IconButton>
              <IconButton
                size="sm"
                label={t("remove_case", { name: cases[at]?.name ?? "" })}
                onClick={() => {
                  onChange(cases.filter((_, place) => place !== at));
                  adding.current?.focus();
                }}
              >
                <Trash2 />
              </IconButton>
            </span>
          )}
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
