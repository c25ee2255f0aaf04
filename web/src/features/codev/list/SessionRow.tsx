import { Link } from "@tanstack/react-router";
import { MoreHorizontal, Trash2 } from "lucide-react";
import type { CodevSession } from "@/api/queries/codev";
import { useRights } from "@/api/rights";
import { IconButton, Menu } from "@/components/ui";
import { ago, dateTime, number } from "@/lib/i18n/format";
import { unmadeWords, whereWords } from "../model/said";
import { StatusChip } from "../page/StatusChip";
import { useCodevTexts } from "../texts";

/** A session in the list: how it stands, what is wanted, where it is, what it used, how old it is. */
export function SessionRow({ session, onDelete }: { session: CodevSession; onDelete: () => void }) {
  const t = useCodevTexts();
  const { may } = useRights();
  const place = session.flow_name || t(session.flow_id ? "the_flow" : unmadeWords(session));
  const used = session.total_input_tokens + session.total_output_tokens;
  const about = [
    session.domain === "headgate" ? place : [place, session.instance_id || session.domain].join(", "),
    whereWords(t, session),
    session.iteration > 1 ? t("iteration", { number: session.iteration }) : "",
    used > 0 ? t("tokens_used", { count: used, tokens: number(used) }) : "",
  ];
  return (
    <li className="flex items-center gap-1 pr-2 hover:bg-hover">
      <Link
        to="/develop/$sessionId"
        params={{ sessionId: session.thread_id }}
        className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 px-3 py-3 sm:grid-cols-[8.5rem_minmax(0,1fr)_auto]"
      >
        <span className="max-sm:order-1">
          <StatusChip status={session.status} />
        </span>
        <span className="min-w-0 max-sm:order-3 max-sm:col-span-2">
          <span className="line-clamp-2 break-words font-medium">{session.requirement}</span>
          <span className="mt-0.5 line-clamp-2 break-words text-sm text-muted">
            {about.filter(Boolean).join(" · ")}
          </span>
        </span>
        <time
          dateTime={session.created_at}
          title={dateTime(session.created_at)}
          className="whitespace-nowrap text-right text-xs text-muted max-sm:order-2"
        >
          {ago(session.created_at, { brief: true })}
        </time>
      </Link>
      {may("flows.edit", session.space_id) && (
        <Menu
          items={[
            {
              id: "delete",
              label: t("delete"),
              icon: <Trash2 />,
              danger: true,
              disabled: session.status === "in_progress",
              onSelect: onDelete,
            },
          ]}
        >
          <IconButton size="sm" label={t("actions_of", { what: session.requirement.slice(0, 60) })}>
            <MoreHorizontal />
          </IconButton>
        </Menu>
      )}
    </li>
  );
}
