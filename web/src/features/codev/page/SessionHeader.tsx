import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Ellipsis, FileText, Link2, RotateCcw, Square, Trash2 } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import type { CodevSession } from "@/api/queries/codev";
import { useRights } from "@/api/rights";
import { Button, cx, IconButton, Menu, type MenuItem, toast, useCopy } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { unmadeWords } from "../model/said";
import { isOver, type LiveSession } from "../model/session";
import { useCodevTexts } from "../texts";
import { DeleteSession } from "./DeleteSession";
import { PlaceLink } from "./PlaceLink";
import { RollBack } from "./RollBack";
import { StatusChip } from "./StatusChip";
import { Summary } from "./Summary";
import { Tokens } from "./Tokens";
import { useStop } from "./useStop";

interface SessionHeaderProps {
  session: CodevSession;
  live: LiveSession;
}

type Opened = "summary" | "delete" | "rollback" | null;

/** What is wanted and where, how it stands and what it used, and what can be done with the session as a whole. */
export function SessionHeader({ session, live }: SessionHeaderProps) {
  const t = useCodevTexts();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<Opened>(null);
  const copy = useCopy();
  const stop = useStop(session.thread_id);
  const close = () => setOpened(null);
  const { may } = useRights();
  const edits = may("flows.edit", session.space_id);
  const works = live.status === "in_progress";
  const copyLink = () => copy(window.location.href, () => toast({ title: t("link_copied"), tone: "ok" }));
  const remove: MenuItem = {
    id: "delete",
    label: t("delete_this"),
    icon: <Trash2 />,
    danger: true,
    disabled: works,
    onSelect: () => setOpened("delete"),
  };
  const items: MenuItem[] = [
    { id: "summary", label: t("summary"), icon: <FileText />, onSelect: () => setOpened("summary") },
    { id: "link", label: t("copy_link"), icon: <Link2 />, onSelect: copyLink },
    ...(edits ? [{ kind: "line" as const, id: "line" }, remove] : []),
  ];
  return (
    <header className="flex flex-wrap items-start gap-x-4 gap-y-3">
      <div className="min-w-0 flex-1 basis-80">
        <Link to="/develop" className="inline-flex items-center gap-1 text-sm text-muted hover:text-ink">
          <ArrowLeft aria-hidden className="size-3.5" />
          {t("development")}
        </Link>
        <Requirement text={session.requirement} />
        <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm text-muted">
          <StatusChip status={live.status} />
          <PlaceLink link={session.link} className="min-w-0 max-w-80 truncate">
            {session.flow_name || t("the_flow")}
          </PlaceLink>
          {!session.link && <span>{session.flow_name || t(unmadeWords(session))}</span>}
          {session.domain !== "headgate" && <span>{session.instance_id || session.domain}</span>}
          {live.iteration > 1 && <span>{t("iteration", { number: live.iteration })}</span>}
          {session.model && <span>{session.model}</span>}
          <time dateTime={session.created_at} title={dateTime(session.created_at)}>
            {t("begun", { when: ago(session.created_at, { brief: true }) })}
          </time>
          <Tokens used={live.inputTokens + live.outputTokens} budget={session.token_budget} />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {edits && !isOver(live.status) && (
          <Button icon={<Square />} busy={stop.isPending} onClick={() => stop.mutate()}>
            {t("stop")}
          </Button>
        )}
        {edits && session.can_roll_back && !works && (
          <Button icon={<RotateCcw />} onClick={() => setOpened("rollback")}>
            {t("roll_back")}
          </Button>
        )}
        <Menu items={items}>
          <IconButton label={t("actions")}>
            <Ellipsis />
          </IconButton>
        </Menu>
      </div>
      {opened === "summary" && <Summary session={session} onClose={close} />}
      {opened === "rollback" && <RollBack session={session} onClose={close} />}
      {opened === "delete" && (
        <DeleteSession session={session} onClose={close} onDeleted={() => void navigate({ to: "/develop" })} />
      )}
    </header>
  );
}

/** The whole of it on demand: a requirement may be a page long. */
function Requirement({ text }: { text: string }) {
  const t = useCodevTexts();
  const [whole, setWhole] = useState(false);
  const [long, setLong] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another length
  useLayoutEffect(() => {
    const at = heading.current;
    if (at) setLong(at.scrollHeight > at.clientHeight + 1);
  }, [text]);
  return (
    <div className="mt-1">
      <h1
        ref={heading}
        className={cx("whitespace-pre-wrap break-words text-lg font-semibold", !whole && "line-clamp-2")}
      >
        {text}
      </h1>
      {long && (
        <button
          type="button"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
          className="text-sm font-medium text-accent hover:underline"
        >
          {t(whole ? "less" : "all_of_it")}
        </button>
      )}
    </div>
  );
}
