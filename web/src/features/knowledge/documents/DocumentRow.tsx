import { Link } from "@tanstack/react-router";
import { FileText, RefreshCw, Trash2, UsersRound } from "lucide-react";
import { useState } from "react";
import {
  changeReaders,
  deleteDocument,
  type KnowledgeDocument,
  knowledgeKeys,
  type ReaderRole,
  reindexDocument,
} from "@/api/queries/knowledge";
import { Chip, Confirm, IconButton, Row, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, bytes } from "@/lib/i18n/format";
import { ROLES, roleOf } from "../roles";
import { useKnowledgeTexts } from "../texts";
import { AccessDialog } from "./AccessDialog";
import { DocumentState } from "./state";

interface DocumentRowProps {
  document: KnowledgeDocument;
  /** Of the base. */
  spaceId: string;
  edits: boolean;
}

/** A document in the list: its state, what was not understood, who may read it. */
export function DocumentRow({ document, spaceId, edits }: DocumentRowProps) {
  const t = useKnowledgeTexts();
  const [deleting, setDeleting] = useState(false);
  const [changing, setChanging] = useState(false);
  const touches = [knowledgeKeys.documents(document.base_id), knowledgeKeys.bases];
  const removal = useChange({ change: deleteDocument, touches, failed: t("delete_failed") });
  const again = useChange({ change: reindexDocument, touches, failed: t("change_failed") });
  const readers = useChange({
    change: (role: ReaderRole | null) => changeReaders(document, role),
    touches,
    failed: t("change_failed"),
  });
  const listed = (document.readers.users?.length ?? 0) + (document.readers.groups?.length ?? 0);
  const detail = [
    document.status === "indexing" && t("progress", { done: document.passages_done, all: document.passages }),
    document.status === "ready" && t("passages_count", { count: document.passages }),
    document.pages !== null && t("pages", { count: document.pages }),
    t("version", { version: document.version }),
    bytes(document.size_bytes),
    ago(document.updated_at),
    listed > 0 && t("listed_count", { count: listed }),
    ...Object.entries(document.metadata).map(([key, value]) => `${key}: ${value}`),
    document.retention_days !== null &&
      (document.retention_days ? t("kept_days", { count: document.retention_days }) : t("kept_always")),
  ];
  return (
    <Row
      icon={<FileText />}
      title={
        <>
          <Link
            to="/knowledge/{-$baseId}"
            params={{ baseId: document.base_id }}
            search={{ document: document.id }}
            className="hover:text-accent hover:underline"
          >
            {document.name}
          </Link>
          <DocumentState document={document} />
          {document.parent_id && <Chip>{t("attachment")}</Chip>}
          {document.notes.length > 0 && <Chip tone="warn">{t("notes", { count: document.notes.length })}</Chip>}
        </>
      }
      detail={detail.filter(Boolean).join(" · ")}
      aside={
        edits && (
          <>
            <Select
              aria-label={t("readers", { name: document.name })}
              className="w-52"
              value={document.readers.role ?? "listed"}
              options={ROLES.map((role) => ({ value: role, label: t(`role_${role}`) }))}
              onChange={(role) => readers.mutate(roleOf(role))}
            />
            <IconButton size="sm" label={t("access_of", { name: document.name })} onClick={() => setChanging(true)}>
              <UsersRound />
            </IconButton>
            <IconButton size="sm" label={t("reindex")} onClick={() => again.mutate(document)}>
              <RefreshCw />
            </IconButton>
            <IconButton size="sm" label={t("delete_what", { what: document.name })} onClick={() => setDeleting(true)}>
              <Trash2 />
            </IconButton>
          </>
        )
      }
    >
      {document.problem && <p className="mt-1 text-sm text-bad">{document.problem}</p>}
      {document.status === "indexing" && document.passages > 0 && (
        <progress
          aria-label={t("status_indexing")}
          value={document.passages_done}
          max={document.passages}
          className="mt-1 h-1.5 w-full accent-accent"
        />
      )}
      {changing && <AccessDialog document={document} spaceId={spaceId} onClose={() => setChanging(false)} />}
      <Confirm
        open={deleting}
        onOpenChange={setDeleting}
        title={t("delete_what", { what: document.name })}
        action={t("delete")}
        busy={removal.isPending}
        onConfirm={() => removal.mutate(document, { onSettled: () => setDeleting(false) })}
      >
        {t("delete_document_more")}
      </Confirm>
    </Row>
  );
}
