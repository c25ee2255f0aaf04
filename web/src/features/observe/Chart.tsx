import { Suspense, useState } from "react";
import { Button, Skeleton } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { part } from "@/lib/part";
import type { ChartData } from "./charts";
import { useObserveTexts } from "./texts";

const Drawing = part(() => import("./Drawing"));

/** A chart, and the same figures as a table for those who do not see it. */
export function Chart({ title, data }: { title: string; data: ChartData }) {
  const t = useObserveTexts();
  const [table, setTable] = useState(false);
  return (
    <section aria-label={title} className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <div className="mb-1 flex items-center gap-2">
        <h2 className="flex-1 font-semibold">{title}</h2>
        <Button size="sm" kind="ghost" aria-pressed={table} onClick={() => setTable(!table)}>
          {t(table ? "as_chart" : "as_table")}
        </Button>
      </div>
      {table ? (
        <Figures title={title} data={data} />
      ) : (
        <Suspense fallback={<Skeleton className="h-52" />}>
          <Drawing data={data} label={t("chart_of", { what: title })} />
        </Suspense>
      )}
    </section>
  );
}

function Figures({ title, data }: { title: string; data: ChartData }) {
  const t = useObserveTexts();
  return (
    <section
      aria-label={title}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      className="max-h-52 overflow-auto"
    >
      <table className="w-full text-sm tabular-nums [&_td]:py-0.5 [&_td]:pr-4 [&_th]:pr-4 [&_th]:text-left">
        <thead className="text-muted">
          <tr>
            <th scope="col">{t("from")}</th>
            {data.lines.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.at.map((at, row) => (
            <tr key={at}>
              <td>{dateTime(new Date(at * 1000))}</td>
              {data.lines.map(({ label, values }) => (
                <td key={label}>{data.show(values[row])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
