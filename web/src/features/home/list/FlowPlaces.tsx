import { useQuery } from "@tanstack/react-query";
import { ChevronRight, Folder, FolderOpen, Star, Tag, Trash2, Workflow } from "lucide-react";
import { Fragment } from "react";
import { collectionsQuery } from "@/api/queries/flowCollections";
import type { FlowFilter } from "@/api/queries/flowList";
import { Filter, FilterBar } from "@/components/lists";
import { Menu } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { foldersBelow, parentsOf } from "./folders";

interface FlowPlacesProps {
  filter: FlowFilter;
  onFilter: (change: Partial<FlowFilter>) => void;
}

const EVERYWHERE = { folder: undefined, tag: undefined, show: undefined };

/** Folders, tags, favourites and the trash of the list. In a folder: the way up, and the folders below it. */
export function FlowPlaces({ filter, onFilter }: FlowPlacesProps) {
  const t = useHomeTexts();
  const { data } = useQuery(collectionsQuery(filter.space));
  const { folder = "", tag, show } = filter;
  if (!data) return <div aria-hidden className="h-9" />;
  const go = (change: Partial<FlowFilter>) => onFilter({ ...EVERYWHERE, ...change });
  const tags = data.tags.map(({ name, flows }) => ({
    id: name,
    label: `${name} (${flows})`,
    icon: <Tag />,
    onSelect: () => onFilter({ tag: name, show: show === "trash" ? undefined : show }),
  }));
  return (
    <FilterBar label={t("places")}>
      <Filter on={!folder && !tag && !show} icon={<Workflow />} count={data.flows} onSelect={() => go({})}>
        {t("all_flows")}
      </Filter>
      <Filter
        on={show === "favourites"}
        icon={<Star />}
        count={data.favourites}
        onSelect={() => go({ show: "favourites" })}
      >
        {t("favourites")}
      </Filter>
      {parentsOf(folder).map((path) => (
        <Fragment key={path}>
          <ChevronRight aria-hidden className="size-3.5 shrink-0 text-faint" />
          <Filter on={path === folder} icon={<FolderOpen />} onSelect={() => go({ folder: path })}>
            {path.split("/").at(-1)}
          </Filter>
        </Fragment>
      ))}
      {foldersBelow(data.folders, folder).map(({ name, path, flows }) => (
        <Filter key={path} on={false} icon={<Folder />} count={flows} onSelect={() => go({ folder: path })}>
          {name}
        </Filter>
      ))}
      {tag && (
        <Filter on icon={<Tag />} onSelect={() => onFilter({ tag: undefined })}>
          {tag}
        </Filter>
      )}
      {tags.length > 0 && !tag && (
        <Menu items={tags} align="start">
          <button
            type="button"
            className="inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink [&_svg]:size-4"
          >
            <Tag aria-hidden />
            {t("flow_tags")}
          </button>
        </Menu>
      )}
      {(data.trashed > 0 || show === "trash") && (
        <Filter on={show === "trash"} icon={<Trash2 />} count={data.trashed} onSelect={() => go({ show: "trash" })}>
          {t("trash")}
        </Filter>
      )}
    </FilterBar>
  );
}
