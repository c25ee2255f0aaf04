import { Columns3, Rows3, X } from "lucide-react";
import type { ClipboardEvent } from "react";
import { Button, IconButton } from "@/components/ui";
import { cellValue, freeColumn, type Grid, pasteCells, readCells, tableOfCells } from "./tablePaste";
import { useFieldTexts } from "./texts";

interface TableEditorProps {
  label: string;
  grid: Grid;
  onChange: (grid: Grid) => void;
}

const CELL = "h-8 w-full min-w-24 bg-transparent px-2 outline-none focus:bg-accent-soft";

/** A table as a grid; what a spreadsheet copies is pasted from the cell with the cursor on. */
export function TableEditor({ label, grid, onChange }: TableEditorProps) {
  const t = useFieldTexts();
  const { columns, rows } = grid;
  const setCell = (row: number, column: number, text: string) =>
    onChange({
      columns,
      rows: rows.map((line, at) =>
        at === row ? line.map((cell, i) => (i === column ? cellValue(text) : cell)) : line,
      ),
    });
  const paste = (event: ClipboardEvent, row: number, column: number) => {
    const cells = readCells(event.clipboardData.getData("text"));
    if (cells.length === 1 && cells[0]?.length === 1) return;
    event.preventDefault();
    onChange(rows.length === 0 ? tableOfCells(cells) : pasteCells(grid, row, column, cells));
  };
  const addRow = () => onChange({ columns, rows: [...rows, columns.map(() => "")] });
  const addColumn = () =>
    onChange({ columns: [...columns, freeColumn(columns)], rows: rows.map((line) => [...line, ""]) });
  const dropColumn = (column: number) =>
    onChange({
      columns: columns.filter((_, at) => at !== column),
      rows: columns.length === 1 ? [] : rows.map((line) => line.filter((_, at) => at !== column)),
    });
  return (
    <div className="flex flex-col gap-1.5">
      {columns.length === 0 ? (
        <button
          type="button"
          onPaste={(event) => paste(event, 0, 0)}
          onClick={() => onChange({ columns: [freeColumn([])], rows: [[""]] })}
          className="rounded-md border border-line-strong border-dashed px-3 py-4 text-muted text-sm hover:bg-hover"
        >
          {t("table_empty")}
        </button>
      ) : (
        <div className="overflow-auto rounded-md border border-line-strong">
          <table aria-label={label} className="w-full border-collapse text-sm">
            <thead className="bg-sunken">
              <tr>
                {columns.map((name, column) => (
                  <th key={column} scope="col" className="border-line border-b p-0 text-left font-medium">
                    <span className="flex items-center">
                      <input
                        aria-label={t("column_name", { number: column + 1 })}
                        value={name}
                        className={CELL}
                        onChange={(event) => {
                          const next = event.target.value;
                          if (columns.some((one, at) => at !== column && one === next)) return;
                          onChange({ columns: columns.map((one, at) => (at === column ? next : one)), rows });
                        }}
                      />
                      <IconButton size="sm" label={t("remove_column", { name })} onClick={() => dropColumn(column)}>
                        <X />
                      </IconButton>
                    </span>
                  </th>
                ))}
                <th className="w-8 border-line border-b">
                  <span className="sr-only">{t("remove")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((line, row) => (
                <tr key={row} className="border-line border-b last:border-0">
                  {columns.map((name, column) => (
                    <td key={column} className="border-line border-r p-0">
                      <input
                        aria-label={t("cell", { column: name, row: row + 1 })}
                        value={shown(line[column])}
                        className={CELL}
                        onChange={(event) => setCell(row, column, event.target.value)}
                        onPaste={(event) => paste(event, row, column)}
                      />
                    </td>
                  ))}
                  <td className="w-8 p-0 text-center">
                    <IconButton
                      size="sm"
                      label={t("remove_row", { number: row + 1 })}
                      onClick={() => onChange({ columns, rows: rows.filter((_, at) => at !== row) })}
                    >
                      <X />
                    </IconButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {columns.length > 0 && (
        <div className="flex gap-1">
          <Button size="sm" kind="ghost" icon={<Rows3 />} onClick={addRow}>
            {t("add_row")}
          </Button>
          <Button size="sm" kind="ghost" icon={<Columns3 />} onClick={addColumn}>
            {t("add_column")}
          </Button>
        </div>
      )}
    </div>
  );
}

const shown = (value: unknown) =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
