import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  type Connection,
  type ConnectionKind,
  connectionKeys,
  connectionUsesQuery,
  testConnection,
} from "@/api/queries/connections";
import { ApiDialog, KindIcon, TablesDialog, useAuthorize } from "@/components/connections";
import { BrowseStorage } from "@/components/storage";
import { Button, Callout, Chip, cx, IconButton, Problem, Row, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { daysLeft } from "./expiry";

const TONES = {
  untested: "neutral",
  ready: "ok",
  failed: "bad",
  unauthorized: "warn",
  rejected: "warn",
  pending: "info",
} as const;
const STATES = {
  untested: "connection_untested",
  ready: "connection_ready",
  failed: "connection_failed",
  unauthorized: "connection_unauthorized",
  rejected: "connection_rejected",
  pending: "connection_pending",
} as const;
/** States that a new sign-in ends. */
const SIGN_IN: ReadonlySet<string> = new Set(["unauthorized", "rejected"]);
/** Kinds whose tables can be listed. */
const DATABASES: ReadonlySet<string> = new Set(["sql", "sql_file"]);
/** From when on its expiry is announced. */
const SOON_DAYS = 14;

interface ConnectionRowProps {
  connection: Connection;
  kind: ConnectionKind | undefined;
  manage: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

/** One connection: kind, state, last use, expiry, and the flows that name it. */
export function ConnectionRow({ connection, kind, manage, onEdit, onRemove }: ConnectionRowProps) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  const test = useChange({
    change: () => testConnection(connection.id),
    touches: [connectionKeys.all],
    failed: t("test_failed"),
  });
  const authorize = useAuthorize();
  const signsIn = kind?.grant === "authorization_code" || kind?.grant === "device_code";
  const used = connection.last_used_at;
  return (
    <Row
      icon={<KindIcon kind={kind} />}
      title={
        <>
          {connection.name}
          <States connection={connection} />
        </>
      }
      detail={
        <>
          {kind?.label ?? connection.kind}
          {connection.hosts.length > 0 && <span className="font-mono text-xs"> · {connection.hosts.join(", ")}</span>}
          <span> · {used ? t("connection_used", { when: ago(used) }) : t("connection_unused")}</span>
        </>
      }
      aside={
        <>
          <Button
            size="sm"
            kind="ghost"
            aria-expanded={open}
            icon={<ChevronDown className={cx("transition-transform", open && "rotate-180")} />}
            onClick={() => setOpen(!open)}
          >
            {t("connection_flows")}
          </Button>
          {kind?.category === "files" && (
            <BrowseStorage spaceId={connection.space_id} connection={connection.name} size="sm" />
          )}
          <Contents connection={connection} kind={kind} manage={manage} />
          {manage && (
            <>
              {signsIn && (
                <Button
                  size="sm"
                  kind={SIGN_IN.has(connection.status) ? "primary" : "secondary"}
                  busy={authorize.isBusy}
                  onClick={() => authorize.start(connection)}
                >
                  {t("authorize")}
                </Button>
              )}
              {kind?.tested && (
                <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
                  {t("test")}
                </Button>
              )}
              <IconButton size="sm" label={t("edit_what", { what: connection.name })} onClick={onEdit}>
                <Pencil />
              </IconButton>
              <IconButton size="sm" label={t("delete_what", { what: connection.name })} onClick={onRemove}>
                <Trash2 />
              </IconButton>
            </>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-2 empty:hidden [&:not(:empty)]:mt-2">
        <Outcome test={test.data} error={connection.error_message} />
        {authorize.error && <Problem error={authorize.error} />}
        {open && <Uses id={connection.id} />}
        {authorize.dialog?.(() => undefined)}
      </div>
    </Row>
  );
}

/** What is behind it, where it can be read: the operations of an API, or the tables of a database. */
function Contents({ connection, kind, manage }: Pick<ConnectionRowProps, "connection" | "kind" | "manage">) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  const isDatabase = DATABASES.has(connection.kind);
  if (!isDatabase && kind?.category !== "api" && kind?.category !== "oauth") return null;
  const close = () => setOpen(false);
  return (
    <>
      <Button size="sm" kind="ghost" onClick={() => setOpen(true)}>
        {t(isDatabase ? "connection_tables" : "connection_api")}
      </Button>
      {open && isDatabase && <TablesDialog connection={connection} onClose={close} />}
      {open && !isDatabase && <ApiDialog connection={connection} manage={manage} onClose={close} />}
    </>
  );
}

/** Whether it works, whose it is, and when it expires. */
function States({ connection }: { connection: Connection }) {
  const t = useSettingsTexts();
  const days = daysLeft(connection.expires_at);
  return (
    <>
      <Chip tone={TONES[connection.status]}>{t(STATES[connection.status])}</Chip>
      {connection.owner_id && <Chip>{t("connection_personal")}</Chip>}
      {days !== null && days < SOON_DAYS && (
        <Chip tone={days < 0 ? "bad" : "warn"} title={dateTime(connection.expires_at ?? "")}>
          {days < 0 ? t("connection_expired") : t("connection_expires", { count: Math.max(1, days) })}
        </Chip>
      )}
    </>
  );
}

interface OutcomeProps {
  test: { ok: boolean; message: string; remedy?: string } | undefined;
  error: string | null;
}

/** The outcome of the test that was just made, else what went wrong last. */
function Outcome({ test, error }: OutcomeProps) {
  if (test) {
    return (
      <Callout tone={test.ok ? "ok" : "warn"}>
        {test.message} {test.remedy}
      </Callout>
    );
  }
  return error ? <Callout tone="warn">{error}</Callout> : null;
}

function Uses({ id }: { id: string }) {
  const t = useSettingsTexts();
  const uses = useQuery(connectionUsesQuery(id));
  if (uses.isPending) return <Skeleton className="h-8" />;
  if (uses.isError) return <Problem error={uses.error} />;
  if (uses.data.length === 0) return <p className="text-sm text-muted">{t("connection_no_flows")}</p>;
  return (
    <ul aria-label={t("connection_flows")} className="divide-y divide-line rounded-md border border-line bg-canvas">
      {uses.data.map((use) => (
        <li key={use.flow_id} className="flex flex-wrap items-center gap-2 px-3 py-1.5 text-sm">
          <a className="font-medium text-accent hover:underline" href={`/flows/${use.flow_id}`}>
            {use.flow}
          </a>
          {use.published && <Chip tone="ok">{t("connection_in_published")}</Chip>}
          {use.nodes.length > 0 && <span className="text-muted">{use.nodes.join(", ")}</span>}
        </li>
      ))}
    </ul>
  );
}
