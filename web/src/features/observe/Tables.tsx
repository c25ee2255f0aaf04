import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunStatistics } from "@/api/queries/statistics";
import { ago, duration, money, number } from "@/lib/i18n/format";
import { useObserveTexts } from "./texts";

/** The busiest flows and models, and what failed most. */
export function Tables({ figures }: { figures: RunStatistics }) {
  const t = useObserveTexts();
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Table
        title={t("by_flow")}
        columns={[t("flow"), t("runs"), t("failed"), t("latency_most"), t("cost")]}
        empty={t("none")}
        rows={figures.flows.map((one) => ({
          id: one.flow_id,
          cells: [
            <Link
              key="flow"
              to="/flows/$flowId/runs"
              params={{ flowId: one.flow_id }}
              className="text-accent hover:underline"
            >
              {one.name || one.flow_id}
            </Link>,
            number(one.runs),
            number(one.failed),
            duration(one.p95_ms),
            money(one.spent.usd),
          ],
        }))}
      />
      <Table
        title={t("by_model")}
        columns={[t("model"), t("calls"), t("tokens"), t("mean"), t("cost")]}
        empty={t("no_models")}
        rows={figures.models.map((one) => ({
          id: `${one.provider}/${one.name}`,
          cells: [
            <span key="model" className="break-all font-mono text-xs">
              {one.name ? `${one.provider}/${one.name}` : t("several_models")}
            </span>,
            number(one.spent.calls),
            number(one.spent.tokens_input + one.spent.tokens_output),
            duration(one.mean_ms),
            one.spent.unpriced === one.spent.calls ? "–" : money(one.spent.usd),
          ],
        }))}
      />
      <section aria-label={t("failures")} className="min-w-0 xl:col-span-2">
        <h2 className="mb-2 font-semibold">{t("failures")}</h2>
        {figures.failures.length === 0 && (
          <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("no_failures")}</p>
        )}
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
          {figures.failures.map((one) => (
            <li
              key={`${one.flow_id} ${one.code}`}
              className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-2.5"
            >
              <span className="w-10 text-lg font-semibold text-bad tabular-nums">{number(one.runs)}</span>
              <div className="min-w-0 flex-1 basis-60">
                <div className="font-medium">{one.flow_name || one.flow_id}</div>
                <p className="line-clamp-2 break-words text-sm text-muted">{one.message || one.code}</p>
              </div>
              <Link
                to="/flows/$flowId/runs/$runId"
                params={{ flowId: one.flow_id, runId: one.run_id }}
                className="text-sm text-accent hover:underline"
              >
                {t("newest_run", { when: ago(one.at) })}
              </Link>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

interface TableProps {
  title: string;
  columns: string[];
  rows: { id: string; cells: ReactNode[] }[];
  empty: string;
}

function Table({ title, columns, rows, empty }: TableProps) {
  return (
    <div className="min-w-0">
      <h2 className="mb-2 font-semibold">{title}</h2>
      {rows.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{empty}</p>
      ) : (
        <section
          aria-label={title}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
          tabIndex={0}
          className="overflow-x-auto rounded-lg border border-line bg-surface"
        >
          <table className="w-full tabular-nums [&_td]:px-3 [&_td]:py-2 [&_th]:px-3 [&_th]:py-2">
            <thead className="border-b border-line text-left text-xs text-muted">
              <tr>
                {columns.map((one, column) => (
                  <th key={one} scope="col" className={column ? "text-right font-medium" : "font-medium"}>
                    {one}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map(({ id, cells }) => (
                <tr key={id}>
                  {cells.map((cell, column) => (
                    <td key={columns[column]} className={column ? "text-right" : "min-w-36"}>
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}
