import { Link } from "@tanstack/react-router";
import type { FlowItem } from "@/api/queries/flowList";
import { FlowMenu } from "./FlowMenu";
import { FlowPicture } from "./FlowPicture";
import { Changed, FlowState, LastRun } from "./FlowState";

/** A flow as a picture with what one wants to know of it. The whole card opens it. */
export function FlowCard({ item }: { item: FlowItem }) {
  return (
    <li className="group relative flex flex-col rounded-lg border border-line bg-surface shadow-low transition-shadow duration-150 hover:border-line-strong hover:shadow-card">
      <FlowPicture item={item} />
      <div className="flex flex-1 flex-col gap-2 p-3">
        <div className="flex items-start gap-1">
          <h3 className="min-w-0 flex-1 truncate font-semibold">
            <Link
              to="/flows/$flowId"
              params={{ flowId: item.id }}
              className="rounded-sm after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
              title={item.name}
            >
              {item.name}
            </Link>
          </h3>
          <div className="relative z-10 -mt-1 -mr-1">
            <FlowMenu item={item} />
          </div>
        </div>
        <div className="flex min-h-5 flex-wrap gap-1.5">
          <FlowState item={item} />
        </div>
        <div className="mt-auto flex items-center justify-between gap-3 pt-1">
          <LastRun item={item} brief />
          <Changed item={item} brief />
        </div>
      </div>
    </li>
  );
}

/** The same as one line. */
export function FlowLine({ item }: { item: FlowItem }) {
  return (
    <li className="group relative flex items-center gap-3 px-3 py-2 hover:bg-hover">
      <div className="min-w-0 flex-1">
        <h3 className="truncate font-medium">
          <Link
            to="/flows/$flowId"
            params={{ flowId: item.id }}
            className="after:absolute after:inset-0"
            title={item.name}
          >
            {item.name}
          </Link>
        </h3>
        {item.description && <p className="truncate text-xs text-muted">{item.description}</p>}
      </div>
      <div className="hidden w-64 shrink-0 flex-wrap gap-1.5 md:flex">
        <FlowState item={item} />
      </div>
      <div className="w-40 shrink-0">
        <LastRun item={item} />
      </div>
      <div className="hidden w-56 shrink-0 lg:flex">
        <Changed item={item} />
      </div>
      <div className="relative z-10">
        <FlowMenu item={item} />
      </div>
    </li>
  );
}
