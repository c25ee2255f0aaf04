import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { TestCase } from "@/api/queries/codev";
import { CaseDialog, CaseList, TEXT_KINDS } from "@/components/cases";
import { Button, Callout, Chip } from "@/components/ui";
import { isSame } from "../model/useKept";
import { useCodevTexts } from "../texts";

interface PlanCasesProps {
  cases: TestCase[];
  /** Those of this plan, as they were proposed. */
  proposed: TestCase[];
  /** Those of the plan before, where this is not the first. */
  before: TestCase[] | undefined;
  /** Names of those that were run last. */
  ran: string[];
  trials: number;
  onChange: (cases: TestCase[]) => void;
}

const MOST_CASES = 50;

/** The tests of a plan, to be read, changed, added and removed. */
export function PlanCases({ cases, proposed, before, ran, trials, onChange }: PlanCasesProps) {
  const t = useCodevTexts();
  /** The place of the case that is open; the end of the list for a new one. */
  const [open, setOpen] = useState<number | null>(null);
  const adding = useRef<HTMLButtonElement>(null);
  const editing = open === null ? undefined : cases[open];
  // What somebody takes out here they know of; what was tested and the new plan has no more they are told.
  const had = ran.length > 0 ? ran : (before ?? []).map(({ name }) => name);
  const dropped = had.filter((name) => ![...proposed, ...cases].some((one) => one.name === name));
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
          mark={(one) => {
            const said = before && newsOf(one, before, ran);
            return said && <Chip tone={said === "case_changed" ? "warn" : "info"}>{t(said)}</Chip>;
          }}
          onEdit={setOpen}
          onRemove={(at) => {
            onChange(cases.filter((_, place) => place !== at));
            adding.current?.focus();
          }}
        />
      )}
      {dropped.map((name) => {
        const known = before?.find((one) => one.name === name);
        return (
          <Callout
            key={name}
            tone="warn"
            title={t("case_dropped", { name })}
            action={
              known && (
                <Button size="sm" onClick={() => onChange([...cases, known])}>
                  {t("put_back")}
                </Button>
              )
            }
          >
            {t("case_dropped_more")}
          </Callout>
        );
      })}
      {open !== null && (
        <CaseDialog
          kinds={TEXT_KINDS}
          test={editing}
          taken={cases.filter((_, at) => at !== open).map(({ name }) => name)}
          onKeep={keep}
          onClose={() => setOpen(null)}
        />
      )}
    </section>
  );
}

/** What is new about a test, beside those of the plan before. */
function newsOf(
  one: TestCase,
  before: readonly TestCase[],
  ran: readonly string[],
): "case_new" | "case_changed" | null {
  const known = before.find(({ name }) => name === one.name);
  if (!known) return ran.includes(one.name) ? null : "case_new";
  return isSame(known, one) ? null : "case_changed";
}
