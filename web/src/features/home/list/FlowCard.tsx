import { Link } from "@tanstack/react-router";
import type { FlowItem } from "@/api/queries/flowList";
import { ITEM, type Selection, TARGET } from "@/components/lists";
import { cx } from "@/components/ui";
import { Deleted } from "./Deleted";
import { Favourite, FlowLabels, SelectBox } from "./FlowMarks";
import { FlowMenu } from "./FlowMenu";
import { FlowPicture } from "./FlowPicture";
import { Changed, FlowState, LastRun } from "./FlowState";

export interface FlowEntryProps {
  item: FlowItem;
  selection: Selection;
  /** The folder that the list shows. */
  folder: string;
}

/** A flow as a picture with what one wants to know of it. The whole card opens it. */
export function FlowCard({ item, selection, folder }: FlowEntryProps) {
  const selected = selection.has(item.id);
  return (
    <li
      {...{ [ITEM]: item.id }}
      className={cx(
        "group relative flex flex-col rounded-lg border bg-surface shadow-low transition-shadow duration-150 hover:shadow-card",
        selected ? "border-accent outline-1 outline-accent" : "border-line hover:border-line-strong",
      )}
    >
      <FlowPicture item={item} />
      <div className="absolute top-1 left-1 rounded-md">
        <Box item={item} selection={selection} />
      </div>
      <div className="flex flex-1 flex-col gap-2 p-3">
        <div className="flex items-start gap-1">
          <h3 className="min-w-0 flex-1 truncate font-semibold">
            <Name item={item} selection={selection} card />
          </h3>
          <div className="relative z-10 -mt-1 -mr-1 flex">
            {!item.deleted_at && <Favourite item={item} />}
            <FlowMenu item={item} />
          </div>
        </div>
        <div className="flex min-h-5 flex-wrap gap-1.5">
          <FlowState item={item} />
          <FlowLabels item={item} folder={folder} />
        </div>
        <div className="mt-auto flex items-center justify-between gap-3 pt-1">
          <LastRun item={item} brief />
          {item.deleted_at ? <Deleted at={item.deleted_at} /> : <Changed item={item} brief />}
        </div>
      </div>
    </li>
  );
}

/** The same as one line. */
export function FlowLine({ item, selection, folder }: FlowEntryProps) {
  return (
    <li
      {...{ [ITEM]: item.id }}
      className={cx(
        "group relative flex items-center gap-2 px-3 py-2",
        selection.has(item.id) ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      <Box item={item} selection={selection} />
      <div className="min-w-0 flex-1">
        <h3 className="truncate font-medium">
          <Name item={item} selection={selection} />
        </h3>
        {item.description && <p className="truncate text-xs text-muted">{item.description}</p>}
      </div>
      <div className="hidden w-64 shrink-0 flex-wrap gap-1.5 md:flex">
        <FlowState item={item} />
        <FlowLabels item={item} folder={folder} />
      </div>
      <div className="hidden w-40 shrink-0 sm:block">
        <LastRun item={item} />
      </div>
      <div className="hidden w-56 shrink-0 lg:flex">
        {item.deleted_at ? <Deleted at={item.deleted_at} /> : <Changed item={item} />}
      </div>
      <div className="relative z-10 flex">
        {!item.deleted_at && <Favourite item={item} />}
        <FlowMenu item={item} />
      </div>
    </li>
  );
}

function Box({ item, selection }: Omit<FlowEntryProps, "folder">) {
  return (
    <SelectBox
      item={item}
      on={selection.has(item.id)}
      any={selection.ids.length > 0}
      onToggle={() => selection.toggle(item.id)}
    />
  );
}

/** Opens the flow; with Shift or Ctrl, and in the trash, it selects it. */
function Name({ item, selection, card }: Omit<FlowEntryProps, "folder"> & { card?: boolean }) {
  const look = cx(
    "after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus",
    card && "rounded-sm after:rounded-lg",
  );
  const target = { [TARGET]: "" };
  if (item.deleted_at) {
    return (
      <button type="button" {...target} onClick={() => selection.toggle(item.id)} className={look}>
        {item.name}
      </button>
    );
  }
  return (
    <Link
      to="/flows/$flowId"
      params={{ flowId: item.id }}
      {...target}
      className={look}
      title={item.name}
      onClick={(event) => {
        if (!event.shiftKey) return;
        event.preventDefault();
        selection.toggle(item.id, true);
      }}
    >
      {item.name}
    </Link>
  );
}
