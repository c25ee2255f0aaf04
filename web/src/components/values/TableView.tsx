import { useState } from "react";
import { Button, cx } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { shortened } from "@/lib/shortened";
import { inShort, type TableValue } from "./shape";
import { useValueTexts } from "./texts";

const FIRST = 20;

/** Rows under columns; many of them only when asked for. */
export function TableView({ table }: { table: TableValue }) {
  const t = useValueTexts();
  const [all, setAll] = useState(false);
  const rows = all ? table.rows : table.rows.slice(0, FIRST);
  return (
    <div className="flex flex-col gap-1.5">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section aria-label={t("table")} tabIndex={0} className="max-h-96 overflow-auto rounded-md border border-line">
        <table className="w-full border-collapse text-sm">
          <thead className="sticky top-0 bg-sunken">
            <tr>
              {table.columns.map((column, place) => (
                <th
                  key={column}
                  className={cx(
                    "whitespace-nowrap border-b border-line px-2.5 py-1.5 text-left font-medium",
                    typeof table.rows[0]?.[place] === "number" && "text-right",
                  )}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at} className="border-line not-last:border-b">
                {row.map((cell, place) => (
                  <td
                    key={table.columns[place]}
                    className={
                      typeof cell === "number" ? "px-2.5 py-1 text-right tabular-nums" : "max-w-80 truncate px-2.5 py-1"
                    }
                    title={inShort(cell)}
                  >
                    {shortened(inShort(cell), 300)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length < table.rows.length && (
        <Button size="sm" className="self-start" onClick={() => setAll(true)}>
          {t("show_rows", { count: number(table.rows.length) })}
        </Button>
      )}
    </div>
  );
}
