import { Link, useNavigate } from "@tanstack/react-router";
import { Braces, EllipsisVertical, FileText, GitCompare, Image, Link2, RotateCcw } from "lucide-react";
import type { VersionFigures, VersionSummary } from "@/api/queries/versions";
import { type ExportKind, exportAs } from "@/components/exports/fetching";
import { Chip, IconButton, Menu, type MenuItem, toast, toastError, useCopy } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { ago, dateTime } from "@/lib/i18n/format";
import { i18next } from "@/lib/i18n/i18n";
import { useRestore } from "./restore";
import { usePublishTexts } from "./texts";

interface VersionRowProps {
  row: VersionSummary;
  figures: VersionFigures | undefined;
  published: boolean;
  earlier: number | undefined;
}

/** One version: what it is, who made it when, how often it ran, and what can be done with it. */
export function VersionRow({ row, figures, published, earlier }: VersionRowProps) {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const name = useDraft((state) => state.document.name);
  const editable = useDraft((state) => state.editable);
  const navigate = useNavigate();
  const restore = useRestore();
  const copy = useCopy();
  const compare = (before: string, after: string) =>
    void navigate({ to: "/flows/$flowId/publish", params: { flowId }, search: { before, after } });
  const take = (kind: ExportKind) => () =>
    void exportAs(kind, { flowId, name, version: row.version }, i18next.language === "sv" ? "sv" : "en").catch(
      (error: unknown) => toastError(t("failed_export"), error),
    );
  const copyLink = () => {
    const link = `${window.location.origin}/flows/${flowId}/publish?before=${earlier ?? row.version}&after=${row.version}`;
    copy(link, () => toast({ title: t("link_copied") }));
  };
  const items: MenuItem[] = [
    {
      id: "draft",
      label: t("compare_draft"),
      icon: <GitCompare />,
      onSelect: () => compare(`${row.version}`, "draft"),
    },
    ...(earlier
      ? [
          {
            id: "earlier",
            label: t("compare_earlier", { version: earlier }),
            icon: <GitCompare />,
            onSelect: () => compare(`${earlier}`, `${row.version}`),
          },
        ]
      : []),
    {
      id: "restore",
      label: t("restore"),
      icon: <RotateCcw />,
      disabled: !editable,
      onSelect: () => void restore(row.version),
    },
    { kind: "line", id: "line" },
    { id: "json", label: t("version_json"), icon: <Braces />, onSelect: take("json") },
    { id: "svg", label: t("version_svg"), icon: <Image />, onSelect: take("svg") },
    { id: "report", label: t("version_report"), icon: <FileText />, onSelect: take("report") },
    { id: "link", label: t("copy_link"), icon: <Link2 />, onSelect: copyLink },
  ];
  const when = row.released_at ?? row.created_at;
  return (
    <li className="flex items-start gap-2 px-3 py-2.5">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{t("version", { version: row.version })}</span>
          {published && <Chip tone="ok">{t("is_published")}</Chip>}
          {row.release !== null && <Chip>{t("release", { release: row.release })}</Chip>}
          {row.release === null && <Chip tone="neutral">{t("tested")}</Chip>}
        </div>
        <p className="mt-0.5 text-sm text-muted">
          <time dateTime={when} title={dateTime(when)}>
            {ago(when)}
          </time>
          {figures?.made_by && ` · ${figures.made_by}`}
          {figures && (
            <>
              {" · "}
              <Link
                to="/flows/$flowId/runs"
                params={{ flowId }}
                className="hover:text-ink hover:underline"
                title={figures.failed > 0 ? t("failed_runs", { count: figures.failed }) : undefined}
              >
                {t("runs", { count: figures.runs })}
              </Link>
            </>
          )}
          {" · "}
          <code className="font-mono text-xs" title={t("checksum", { checksum: row.checksum })}>
            {row.checksum.slice(0, 12)}
          </code>
        </p>
        {row.release_notes && <p className="mt-1 whitespace-pre-line break-words text-sm">{row.release_notes}</p>}
      </div>
      <Menu items={items}>
        <IconButton label={t("more_of", { version: row.version })}>
          <EllipsisVertical />
        </IconButton>
      </Menu>
    </li>
  );
}
