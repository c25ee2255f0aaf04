import { useInfiniteQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { documentsQuery, type KnowledgeBase } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { DropZone } from "@/components/files/DropZone";
import { Button, EmptyState, Listing, Problem } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { DocumentRow } from "./DocumentRow";
import { useUploads } from "./useUploads";

/** The documents of a base with their state, and the place to drop more. */
export function Documents({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const edits = may("knowledge.edit", base.space_id);
  const { uploads, add, dismiss } = useUploads(base.id);
  const documents = useInfiniteQuery(documentsQuery(base.id));
  const items = documents.data?.pages.flatMap((page) => page.items);
  return (
    <div className="flex flex-col gap-3 py-4">
      {edits && <DropZone multiple label={t("drop")} onFiles={(files) => void add(files)} />}
      {uploads.map((upload) =>
        upload.error ? (
          <div key={upload.id} className="flex flex-col gap-1">
            <p className="text-sm font-medium">{t("upload_failed", { name: upload.name })}</p>
            <Problem error={upload.error} />
            <Button size="sm" className="self-start" onClick={() => dismiss(upload.id)}>
              {t("dismiss")}
            </Button>
          </div>
        ) : (
          <div key={upload.id} className="flex flex-col gap-1">
            <span className="truncate text-sm text-muted">{t("uploading", { name: upload.name })}</span>
            <progress
              aria-label={t("uploading", { name: upload.name })}
              value={upload.part}
              className="h-1.5 w-full accent-accent"
            />
          </div>
        ),
      )}
      <Listing
        label={t("documents")}
        query={{ ...documents, data: items }}
        empty={
          <EmptyState icon={<FileText />} title={t("no_documents")}>
            {t("no_documents_more")}
          </EmptyState>
        }
      >
        {(document) => <DocumentRow key={document.id} document={document} spaceId={base.space_id} edits={edits} />}
      </Listing>
      {documents.hasNextPage && (
        <Button
          className="self-center"
          busy={documents.isFetchingNextPage}
          onClick={() => void documents.fetchNextPage()}
        >
          {t("more")}
        </Button>
      )}
    </div>
  );
}
