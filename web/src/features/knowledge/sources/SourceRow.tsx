import { useQuery } from "@tanstack/react-query";
import { Database, FolderGit2, Globe, HardDrive, Mail, Pencil, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import {
  deleteSource,
  isSyncing,
  type KnowledgeSource,
  MOST_PROBLEMS,
  sourceKeys,
  sourceProblemsQuery,
  syncSource,
} from "@/api/queries/knowledgeSources";
import { Chip, Confirm, IconButton, Problem, Row, Skeleton, type Tone } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago } from "@/lib/i18n/format";
import { everyOf, SourceDialog } from "./SourceDialog";
import { useSourceTexts } from "./texts";

const ICONS = { storage: <HardDrive />, git: <FolderGit2 />, web: <Globe />, sql: <Database />, mail: <Mail /> };
const TONES: Record<KnowledgeSource["status"], Tone> = {
  pending: "neutral",
  running: "info",
  ready: "ok",
  failed: "bad",
};

/** A source: its state, what the last synchronisation did, and what was not understood. */
export function SourceRow({ base, source }: { base: KnowledgeBase; source: KnowledgeSource }) {
  const t = useSourceTexts();
  const [deleting, setDeleting] = useState(false);
  const [changing, setChanging] = useState(false);
  const touches = [sourceKeys.of(source.base_id), knowledgeKeys.documents(source.base_id), knowledgeKeys.bases];
  const sync = useChange({ change: syncSource, touches, failed: t("sync_failed") });
  const removal = useChange({ change: deleteSource, touches, failed: t("delete_failed") });
  const { report } = source;
  const every = everyOf(source.every_seconds);
  const detail = [
    t(`kind_${source.config.kind}`),
    t("documents", { count: source.documents }),
    t(`every_${every ?? "custom"}`),
    source.synced_at ? t("last", { ago: ago(source.synced_at) }) : t("never"),
  ];
  return (
    <Row
      icon={ICONS[source.config.kind]}
      title={
        <>
          {source.name}
          <Chip tone={TONES[source.status]}>{t(`status_${source.status}`)}</Chip>
        </>
      }
      detail={detail.join(" · ")}
      aside={
        <>
          <IconButton
            size="sm"
            label={t("sync", { name: source.name })}
            disabled={isSyncing(source)}
            onClick={() => sync.mutate(source)}
          >
            <RefreshCw />
          </IconButton>
          <IconButton size="sm" label={t("change", { name: source.name })} onClick={() => setChanging(true)}>
            <Pencil />
          </IconButton>
          <IconButton size="sm" label={t("delete_what", { name: source.name })} onClick={() => setDeleting(true)}>
            <Trash2 />
          </IconButton>
        </>
      }
    >
      {source.problem && <p className="mt-1 text-sm text-bad">{source.problem}</p>}
      {source.status === "running" && (
        <p role="status" className="mt-1 text-sm text-muted">
          {t("progress", { done: report.done ?? 0, all: report.listed ?? 0 })}
        </p>
      )}
      {source.status === "ready" && <Report source={source} />}
      {source.problems > 0 && <Problems source={source} />}
      {changing && <SourceDialog base={base} source={source} onClose={() => setChanging(false)} />}
      <Confirm
        open={deleting}
        onOpenChange={setDeleting}
        title={t("delete_what", { name: source.name })}
        action={t("delete")}
        busy={removal.isPending}
        onConfirm={() => removal.mutate(source, { onSettled: () => setDeleting(false) })}
      >
        {t("delete_more")}
      </Confirm>
    </Row>
  );
}

function Report({ source: { report } }: { source: KnowledgeSource }) {
  const t = useSourceTexts();
  const { added = 0, changed = 0, unchanged = 0, deleted = 0, notes = [] } = report;
  return (
    <div className="mt-1 text-sm text-muted">
      <p>{t("report", { added, changed, unchanged, deleted })}</p>
      {report.complete === false && <p>{t("incomplete")}</p>}
      {notes.map((note) => (
        <p key={note} className="wrap-anywhere">
          {note}
        </p>
      ))}
    </div>
  );
}

/** Items with their reasons, read when they are opened. */
function Problems({ source }: { source: KnowledgeSource }) {
  const t = useSourceTexts();
  const [open, setOpen] = useState(false);
  const problems = useQuery({ ...sourceProblemsQuery(source.base_id, source.id), enabled: open });
  return (
    <details className="mt-1 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-warn">{t("problems", { count: source.problems })}</summary>
      {problems.isError && <Problem error={problems.error} />}
      {open && problems.isPending && <Skeleton className="mt-1 h-8" />}
      <ul className="mt-1 flex flex-col gap-1">
        {problems.data?.map((item) => (
          <li key={item.key} className="wrap-anywhere">
            <span className="font-medium">{item.document || item.key}</span>
            {item.reasons.map((reason) => (
              <p key={reason} className="text-muted">
                {reason}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {problems.data?.length === MOST_PROBLEMS && (
        <p className="text-muted">{t("problems_first", { count: MOST_PROBLEMS })}</p>
      )}
    </details>
  );
}
