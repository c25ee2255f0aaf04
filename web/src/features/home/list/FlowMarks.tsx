import { useQueryClient } from "@tanstack/react-query";
import { Folder, Star, Tag } from "lucide-react";
import { useState } from "react";
import { setFavourite } from "@/api/queries/flowCollections";
import type { FlowItem } from "@/api/queries/flowList";
import { flowKeys } from "@/api/queries/flows";
import { Checkbox, Chip, cx, IconButton, toastError } from "@/components/ui";
import { useHomeTexts } from "../texts";

/** Whether the flow is a favourite, as a button that changes it. */
export function Favourite({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const client = useQueryClient();
  const [changed, setChanged] = useState<boolean | null>(null);
  const on = changed ?? item.favourite;
  const change = async () => {
    setChanged(!on);
    try {
      await setFavourite(item.id, !on);
      await client.invalidateQueries({ queryKey: flowKeys.lists });
    } catch (error) {
      toastError(t("failed_bulk"), error);
    }
    setChanged(null);
  };
  return (
    <IconButton
      size="sm"
      label={t("favourite", { name: item.name })}
      on={on}
      onClick={() => void change()}
      className={cx(!on && "sm:opacity-0 sm:group-focus-within:opacity-100 sm:group-hover:opacity-100")}
    >
      <Star className={cx(on && "fill-warn text-warn")} />
    </IconButton>
  );
}

/** The box that selects a flow; hidden from the mouse until one points at the flow or something is selected. */
export function SelectBox({ item, on, any, onToggle }: SelectBoxProps) {
  const t = useHomeTexts();
  return (
    <span
      className={cx(
        "relative z-10 flex size-7 shrink-0 items-center justify-center",
        !on && !any && "sm:opacity-0 sm:group-focus-within:opacity-100 sm:group-hover:opacity-100",
      )}
    >
      <Checkbox checked={on} onChange={onToggle} aria-label={t("select_flow", { name: item.name })} />
    </span>
  );
}

interface SelectBoxProps {
  item: FlowItem;
  on: boolean;
  /** Something is selected: every box is shown. */
  any: boolean;
  onToggle: () => void;
}

/** Folder and tags of a flow. */
export function FlowLabels({ item, folder }: { item: FlowItem; folder: string }) {
  const own = item.folder ?? "";
  return (
    <>
      {own && own !== folder && (
        <Chip icon={<Folder />} title={own}>
          {own.split("/").at(-1)}
        </Chip>
      )}
      {item.tags.map((tag) => (
        <Chip key={tag} icon={<Tag />}>
          {tag}
        </Chip>
      ))}
    </>
  );
}
