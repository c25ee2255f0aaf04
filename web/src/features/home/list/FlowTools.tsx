import { LayoutGrid, List, Search } from "lucide-react";
import type { FlowFilter, FlowSort } from "@/api/queries/flowList";
import { Input, Segments, Select } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { useSpaces } from "../useSpaces";

export type ListView = "grid" | "list";
const EVERY = "every";

interface FlowToolsProps {
  filter: FlowFilter;
  view: ListView;
  onFilter: (change: Partial<FlowFilter>) => void;
  onView: (view: ListView) => void;
}

/** Search, space, order and look of the list. */
export function FlowTools({ filter, view, onFilter, onView }: FlowToolsProps) {
  const t = useHomeTexts();
  const spaces = useSpaces();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="relative min-w-full flex-1 sm:min-w-48 sm:max-w-80">
        <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
        <Input
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          defaultValue={filter.search}
          maxLength={200}
          onChange={(event) => onFilter({ search: event.target.value })}
          className="pl-8"
        />
      </div>
      {spaces.length > 1 && (
        <Select
          aria-label={t("space")}
          className="w-44"
          value={filter.space ?? EVERY}
          options={[
            { value: EVERY, label: t("all_spaces") },
            ...spaces.map((space) => ({ value: space.id, label: space.name })),
          ]}
          onChange={(space) => onFilter({ space: space === EVERY ? undefined : space })}
        />
      )}
      <Select<FlowSort>
        aria-label={t("sort")}
        className="w-38"
        value={filter.sort}
        options={[
          { value: "updated", label: t("sort_updated") },
          { value: "created", label: t("sort_created") },
          { value: "name", label: t("sort_name") },
        ]}
        onChange={(sort) => onFilter({ sort })}
      />
      <Segments<ListView>
        aria-label={t("view")}
        value={view}
        options={[
          { value: "grid", label: <span className="sr-only">{t("view_grid")}</span>, icon: <LayoutGrid /> },
          { value: "list", label: <span className="sr-only">{t("view_list")}</span>, icon: <List /> },
        ]}
        onChange={onView}
      />
    </div>
  );
}
