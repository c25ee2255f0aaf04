import { Columns3, Download } from "lucide-react";
import type { RunFilter } from "@/api/queries/runs";
import type { SavedView } from "@/api/queries/savedViews";
import { SavedViews } from "@/components/saved-views";
import { Button, Checkbox, Menu, Popover } from "@/components/ui";
import { useRunTexts } from "../texts";
import { COLUMNS, type RunColumn } from "./columns";

interface ListMenusProps {
  filter: RunFilter;
  /** The filters as a saved view stores them. */
  filters: Record<string, string>;
  columns: readonly RunColumn[];
  onColumns: (columns: RunColumn[]) => void;
  onView: (view: SavedView) => void;
}

/** Columns, saved views and exports of a list of runs. */
export function ListMenus({ filter, filters, columns, onColumns, onView }: ListMenusProps) {
  const t = useRunTexts();
  const take = (format: "csv" | "jsonl") => {
    const asked = Object.entries(filter).filter((entry): entry is [string, string] => Boolean(entry[1]));
    window.location.assign(`/api/v1/flow-runs/export?${new URLSearchParams([...asked, ["format", format]])}`);
  };
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <SavedViews place="runs" current={{ filters, columns: [...columns] }} onChoose={onView} />
      <Popover
        align="end"
        label={t("columns")}
        className="w-56 p-3"
        trigger={
          <Button size="sm" icon={<Columns3 aria-hidden />}>
            {t("columns")}
          </Button>
        }
      >
        <ul className="flex flex-col gap-2">
          {COLUMNS.map((column) => (
            <li key={column}>
              {/* biome-ignore lint/a11y/noLabelWithoutControl: the box is the control */}
              <label className="flex items-center gap-2">
                <Checkbox
                  aria-label={t(`column_${column}`)}
                  checked={columns.includes(column)}
                  onChange={(on) => onColumns(COLUMNS.filter((one) => (one === column ? on : columns.includes(one))))}
                />
                {t(`column_${column}`)}
              </label>
            </li>
          ))}
        </ul>
        <p className="mt-2 text-xs text-muted">{t("columns_more")}</p>
      </Popover>
      <Menu
        items={[
          { id: "csv", label: t("export_csv"), onSelect: () => take("csv") },
          { id: "jsonl", label: t("export_jsonl"), onSelect: () => take("jsonl") },
        ]}
      >
        <Button size="sm" icon={<Download aria-hidden />}>
          {t("export_runs")}
        </Button>
      </Menu>
    </div>
  );
}
