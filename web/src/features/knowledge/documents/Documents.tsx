import { useInfiniteQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useState } from "react";
import { documentsQuery, type KnowledgeBase } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { DropZone } from "@/components/files/DropZone";
import { Button, EmptyState, Listing, Problem, Toggle } from "@/components/ui";
import { metadataOf } from "../metadata/lines";
import { MetadataInput } from "../metadata/MetadataInput";
import { useMetadataTexts } from "../metadata/texts";
import { usePreviewTexts } from "../preview/texts";
import { UploadPreview } from "../preview/UploadPreview";
import { useKnowledgeTexts } from "../texts";
import { DocumentRow } from "./DocumentRow";
import { useUploads } from "./useUploads";

/** The documents of a base with their state, and the place to drop more. */
export function Documents({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const aboutMetadata = useMetadataTexts();
  const preview = usePreviewTexts();
  const { may } = useRights();
  const edits = may("knowledge.edit", base.space_id);
  const [metadata, setMetadata] = useState("");
  const [previews, setPreviews] = useState(false);
  const [previewed, setPreviewed] = useState<readonly File[]>([]);
  const values = metadataOf(metadata);
  const { uploads, add, dismiss } = useUploads(base.id, values && Object.keys(values).length > 0 ? values : null);
  const documents = useInfiniteQuery(documentsQuery(base.id));
  const items = documents.data?.pages.flatMap((page) => page.items);
  return (
    <div className="flex flex-col gap-3 py-4">
      {edits && (
        <>
          <DropZone
            multiple
            label={t("drop")}
            onFiles={(files) => (previews ? setPreviewed([...previewed, ...files]) : void add(files))}
          />
          <Toggle label={preview("preview_before")} checked={previews} onChange={setPreviews} />
          <details className="text-sm">
            <summary className="cursor-pointer text-muted">{aboutMetadata("metadata_new")}</summary>
            <div className="mt-2">
              <MetadataInput value={metadata} onChange={setMetadata} />
            </div>
          </details>
        </>
      )}
      {previewed[0] && (
        <UploadPreview
          key={previewed[0].name}
          base={base}
          file={previewed[0]}
          onAdd={() => {
            void add(previewed.slice(0, 1));
            setPreviewed(previewed.slice(1));
          }}
          onClose={() => setPreviewed(previewed.slice(1))}
        />
      )}
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
