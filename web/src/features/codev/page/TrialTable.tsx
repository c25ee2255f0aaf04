import { ChevronRight, CircleCheck, CircleDashed, CircleX } from "lucide-react";
import { useState } from "react";
import type { TestCase } from "@/api/queries/codev";
import { useExpectedWords } from "@/components/cases";
import { useMissWords } from "@/components/misses";
import { cx } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import { byCase, type CaseRow, type Trial } from "../model/trial";
import { useCodevTexts } from "../texts";
import { PlaceLink } from "./PlaceLink";

interface TrialTableProps {
  trials: Trial[];
  cases: TestCase[];
}

/** Test cases by row and their trials by column, as they come; a row opens to what was answered. */
export function TrialTable({ trials, cases }: TrialTableProps) {
  const t = useCodevTexts();
  const told = byCase(trials);
  const waiting = cases.filter(({ name }) => !told.some((row) => row.name === name));
  const rows: CaseRow[] = [...told, ...waiting.map(({ name }) => ({ name, trials: [], passed: 0 }))];
  const columns = Math.max(1, ...told.map((row) => row.trials.length));
  const passed = trials.filter((one) => one.passed).length;
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className="text-sm text-muted">
        {t("trials_passed", { passed, of: trials.length })}
      </p>
      <div className="overflow-x-auto rounded-md border border-line">
        <table className="w-full border-collapse text-sm">
          <thead>
            <tr className="border-b border-line text-left text-xs text-muted">
              <th scope="col" className="px-3 py-2 font-medium">
                {t("case")}
              </th>
              {Array.from({ length: columns }, (_, at) => `${at + 1}`).map((number) => (
                <th key={number} scope="col" className="w-9 px-1 py-2 text-center font-medium sm:w-14 sm:px-2">
                  <span className="sr-only">{t("trial", { number })}</span>
                  <span aria-hidden>{columns > 1 ? `#${number}` : t("result")}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.name} row={row} columns={columns} test={cases.find(({ name }) => name === row.name)} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowProps {
  row: CaseRow;
  columns: number;
  test: TestCase | undefined;
}

function Row({ row, columns, test }: RowProps) {
  const t = useCodevTexts();
  const failed = row.trials.some((one) => !one.passed);
  const [chosen, setChosen] = useState<boolean | null>(null);
  // Why something failed is what is looked for: it is open, until somebody closes it.
  const open = chosen ?? failed;
  return (
    <>
      <tr className="border-b border-line last:border-0">
        <th scope="row" className="min-w-32 px-1 py-1 text-left font-normal">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setChosen(!open)}
            className="flex w-full min-w-0 items-center gap-1.5 rounded-md px-2 py-1 text-left hover:bg-hover"
          >
            <ChevronRight
              aria-hidden
              className={cx("size-3.5 shrink-0 text-faint transition-transform", open && "rotate-90")}
            />
            <span className={cx("min-w-0 break-words", failed && "text-bad")}>{row.name}</span>
          </button>
        </th>
        {Array.from({ length: columns }, (_, at) => at).map((at) => (
          <td key={`${row.name} ${at + 1}`} className="px-1 py-1 text-center sm:px-2">
            <Mark trial={row.trials[at]} />
          </td>
        ))}
      </tr>
      {open && (
        <tr className="border-b border-line bg-canvas last:border-0">
          <td colSpan={columns + 1} className="px-4 py-3">
            {test && <Asked test={test} />}
            {row.trials.map((trial) => (
              <Told key={trial.trial} trial={trial} several={row.trials.length > 1} />
            ))}
            {row.trials.length === 0 && <p className="mt-1 text-muted">{t("not_run_yet")}</p>}
          </td>
        </tr>
      )}
    </>
  );
}

function Mark({ trial }: { trial: Trial | undefined }) {
  const t = useCodevTexts();
  if (!trial) return <CircleDashed role="img" aria-label={t("not_run_yet")} className="inline size-4 text-faint" />;
  const said = t(trial.passed ? "passed" : "failed");
  const sign = trial.passed ? (
    <CircleCheck role="img" aria-label={said} className="inline size-4.5 text-ok" />
  ) : (
    <CircleX role="img" aria-label={said} className="inline size-4.5 text-bad" />
  );
  return <span title={`${said}, ${duration(trial.ms)}`}>{sign}</span>;
}

function Asked({ test }: { test: TestCase }) {
  const t = useCodevTexts();
  const expected = useExpectedWords();
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
      {test.text && (
        <>
          <dt className="text-muted">{t("goes_in")}</dt>
          <dd className="whitespace-pre-wrap break-words">{test.text}</dd>
        </>
      )}
      <dt className="text-muted">{t("expected")}</dt>
      <dd>
        {expected(test.expect).map((line) => (
          <p key={line} className="break-words">
            {t("answer_expected", { what: line })}
          </p>
        ))}
      </dd>
    </dl>
  );
}

function Told({ trial, several }: { trial: Trial; several: boolean }) {
  const t = useCodevTexts();
  const missed = useMissWords();
  return (
    <div className="mt-2 border-t border-line pt-2">
      <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
        {several && <span className="font-medium">{t("trial", { number: trial.trial })}</span>}
        <span className={trial.passed ? "text-ok" : "text-bad"}>{t(trial.passed ? "passed" : "failed")}</span>
        <span>{duration(trial.ms)}</span>
        <PlaceLink link={trial.link}>{t("open_run")}</PlaceLink>
      </p>
      {trial.error && <p className="mt-1 break-words text-bad">{trial.error}</p>}
      {trial.misses.map((line) => (
        <p key={line} className="mt-1 break-words text-bad">
          {t("answer_misses", { what: missed(line) })}
        </p>
      ))}
      {trial.answer && <p className="mt-1 max-h-40 overflow-y-auto whitespace-pre-wrap break-words">{trial.answer}</p>}
    </div>
  );
}
