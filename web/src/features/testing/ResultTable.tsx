import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed, CircleX, Minus } from "lucide-react";
import type { TestResult, Trial } from "@/api/queries/tests";
import { useMissWords } from "@/components/misses";
import { Callout, Progress } from "@/components/ui";
import { useTestTexts } from "./texts";

/** Case by trial: passed or failed, each with a link to its run, and below what did not hold. */
export function ResultTable({ flowId, result }: { flowId: string; result: TestResult }) {
  const t = useTestTexts();
  const { lines = [], done = 0, failures = 0, of, status, trials } = result;
  const running = status === "running";
  const rows = [...new Map(lines.map((line) => [line.position, line.name])).entries()].sort(([a], [b]) => a - b);
  const numbers = Array.from({ length: trials }, (_, at) => at + 1);
  return (
    <div className="flex flex-col gap-3">
      {running ? (
        <div className="flex flex-col gap-1.5" role="status">
          <p className="text-sm text-muted">{t("progress", { done, of })}</p>
          <Progress value={of ? done / of : null} label={t("progress", { done, of })} />
        </div>
      ) : (
        <Callout
          tone={status === "passed" ? "ok" : status === "failed" ? "bad" : "warn"}
          title={status === "failed" ? t("failed", { count: failures, of }) : t(status)}
        >
          {result.reason}
        </Callout>
      )}
      {rows.length > 0 && (
        <div className="overflow-x-auto rounded-lg border border-line bg-surface">
          <table className="w-full text-left text-sm">
            <thead className="text-muted">
              <tr>
                <th scope="col" className="w-full px-4 py-2 font-medium">
                  {t("test")}
                </th>
                {numbers.map((number) => (
                  <th key={number} scope="col" className="min-w-10 px-2 py-2 text-center font-medium">
                    <span className="sr-only">{t("trial", { number })}</span>
                    <span aria-hidden>{number}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([position, name]) => {
                const own = lines.filter((line) => line.position === position);
                return (
                  <tr key={position} className="border-t border-line align-top">
                    <th scope="row" className="min-w-40 px-4 py-2 font-normal">
                      <span className="break-words font-medium">{name}</span>
                      <Misses lines={own} />
                    </th>
                    {numbers.map((number) => (
                      <td key={number} className="px-2 py-2 text-center">
                        <Cell
                          flowId={flowId}
                          name={name}
                          number={number}
                          running={running}
                          line={own.find((line) => line.trial === number)}
                        />
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

interface CellProps {
  flowId: string;
  name: string;
  number: number;
  running: boolean;
  line: Trial | undefined;
}

function Cell({ flowId, name, number, running, line }: CellProps) {
  const t = useTestTexts();
  const words = { name, number };
  if (!line) {
    return (
      <span className="inline-flex text-faint">
        <span className="sr-only">{t(running ? "trial_waits" : "trial_none", words)}</span>
        {running ? <CircleDashed aria-hidden className="size-4.5" /> : <Minus aria-hidden className="size-4" />}
      </span>
    );
  }
  const label = t(line.passed ? "trial_passed" : "trial_failed", words);
  const mark = line.passed ? (
    <CircleCheck aria-hidden className="size-4.5 text-ok" />
  ) : (
    <CircleX aria-hidden className="size-4.5 text-bad" />
  );
  if (!line.run_id) {
    return (
      <span className="inline-flex">
        <span className="sr-only">{label}</span>
        {mark}
      </span>
    );
  }
  return (
    <Link
      to="/flows/$flowId/runs/$runId"
      params={{ flowId, runId: line.run_id }}
      aria-label={label}
      title={label}
      className="inline-flex rounded-sm p-0.5 hover:bg-hover"
    >
      {mark}
    </Link>
  );
}

/** What did not hold, and in which trials: the same in several is said once. What a model answered is text. */
function Misses({ lines }: { lines: Trial[] }) {
  const t = useTestTexts();
  const missed = useMissWords();
  const found = new Map<string, { text: "trial_error" | "answer_misses"; what: string; numbers: number[] }>();
  for (const { trial, error, misses } of lines) {
    const text = error ? "trial_error" : "answer_misses";
    for (const what of error ? [error] : misses) {
      const key = `${text} ${what}`;
      const known = found.get(key) ?? { text, what: error ? what : missed(what), numbers: [] };
      found.set(key, { ...known, numbers: [...known.numbers, trial] });
    }
  }
  if (found.size === 0) return null;
  return (
    <ul className="mt-1 flex flex-col gap-0.5 text-xs text-bad">
      {[...found].map(([key, { text, what, numbers }]) => (
        <li key={key} className="break-words">
          {t(text, { count: numbers.length, number: numbers.join(", "), what })}
        </li>
      ))}
    </ul>
  );
}
