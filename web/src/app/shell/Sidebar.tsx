import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  AlarmClock,
  ChartNoAxesColumn,
  Hammer,
  History,
  Inbox,
  LayoutTemplate,
  Search,
  Settings,
  Workflow,
} from "lucide-react";
import { approvalCountQuery } from "@/api/queries/approvals";
import { codevWaitingQuery } from "@/api/queries/codev";
import { meQuery } from "@/api/queries/me";
import { maySomewhere } from "@/api/rights";
import { cx, Tip } from "@/components/ui";
import { usePalette } from "@/lib/commands/commands";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../texts";
import { AccountMenu } from "./AccountMenu";

const PLACE =
  "flex h-12 w-full min-w-0 max-w-20 flex-col items-center justify-center gap-0.5 rounded-md text-2xs text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent";

/** The way to every place: at the left, or at the bottom of a narrow screen. */
export function Sidebar() {
  const t = useAppTexts();
  const changed = useShortcutKeys((state) => state.changed);
  const { data: me } = useQuery(meQuery);
  const sees = me !== undefined && maySomewhere(me, "flows.view");
  const waiting = useQuery({ ...codevWaitingQuery, enabled: sees }).data?.length ?? 0;
  const approvals = useQuery({
    ...approvalCountQuery,
    enabled: me !== undefined && maySomewhere(me, "runs.start"),
  }).data;
  const places = [
    { to: "/", label: t("flows"), icon: Workflow, exact: true },
    // The start page leads there too: a narrow screen has no place for it.
    { to: "/templates", label: t("templates"), icon: LayoutTemplate, wide: true },
    { to: "/runs", label: t("runs"), icon: History },
    { to: "/triggers", label: t("triggers"), icon: AlarmClock, wide: true },
    { to: "/inbox/{-$approvalId}", label: t("inbox"), icon: Inbox, waiting: approvals ?? 0 },
    { to: "/develop", label: t("develop"), icon: Hammer, waiting },
    { to: "/observe", label: t("observe"), icon: ChartNoAxesColumn },
    { to: "/settings/{-$section}", label: t("settings"), icon: Settings },
  ] as const;
  return (
    <nav
      aria-label={t("main_navigation")}
      className="flex shrink-0 items-center justify-around gap-1 border-t border-line bg-surface p-1.5 pb-[max(0.375rem,env(safe-area-inset-bottom))] sm:w-18 sm:flex-col sm:justify-start sm:border-t-0 sm:border-r sm:px-0.5 sm:py-3"
    >
      <Link to="/" aria-label={t("go_home")} tabIndex={-1} className="mb-2 hidden rounded-md sm:block">
        <img src="/icon.svg" alt="" width={28} height={28} />
      </Link>
      {places.map(({ to, label, icon: Icon, ...more }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: "exact" in more, includeSearch: false }}
          className={cx(PLACE, "wide" in more && "max-sm:hidden")}
        >
          <span className="relative">
            <Icon aria-hidden className="size-4.5" />
            {"waiting" in more && more.waiting > 0 && <Badge count={more.waiting} />}
          </span>
          <span className="max-w-full truncate">{label}</span>
        </Link>
      ))}
      <div className="hidden flex-1 sm:block" />
      <Tip text={t("commands")} keys={keysOf("commands", changed)} side="right">
        <button
          type="button"
          aria-label={t("commands")}
          onClick={() => usePalette.getState().setOpen(true)}
          className="hidden size-9 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink sm:flex"
        >
          <Search aria-hidden className="size-4.5" />
        </button>
      </Tip>
      <AccountMenu />
    </nav>
  );
}

/** How many things of a place wait for the person. */
function Badge({ count }: { count: number }) {
  const t = useAppTexts();
  return (
    <span className="absolute -top-1.5 left-3 flex h-4 min-w-4 items-center justify-center rounded-full bg-accent px-1 text-2xs font-semibold text-on-accent">
      <span aria-hidden>{count > 9 ? "9+" : count}</span>
      <span className="sr-only">{t("waiting_count", { count })}</span>
    </span>
  );
}
