import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type KnowledgeDocument, type Passage, passagesQuery } from "@/api/queries/knowledge";
import { Button, Callout, Chip, cx, Problem, Segments, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { PagePictures } from "./PagePictures";

interface ContentsProps {
  document: KnowledgeDocument;
  /** The passage to open, and the checksum of its text where it was cited. */
  ordinal: number | undefined;
  cited: string | undefined;
}

export const hasPictures = ({ media_type, pages, passages }: KnowledgeDocument) =>
  /^(application\/pdf$|image\/)/.test(media_type) && pages !== null && passages > 0;

/** What is in a document: pictures of the pages of a PDF, or the text of its passages. */
export function Contents({ document, ordinal, cited }: ContentsProps) {
  const t = useKnowledgeTexts();
  const pictured = hasPictures(document);
  const [view, setView] = useState<"pages" | "text">("pages");
  const passages = useInfiniteQuery(passagesQuery(document.base_id, document.id, ordinal ?? 0));
  const items = passages.data?.pages.flat() ?? [];
  const open = items.find((one) => (cited ? one.sha256 === cited : one.ordinal === ordinal));
  const changed = cited !== undefined && passages.isSuccess && open === undefined;
  return (
    <div className="flex flex-col gap-2">
      {passages.isError && <Problem error={passages.error} />}
      {changed && <Callout tone="warn">{t("cited_changed", { now: document.version })}</Callout>}
      {pictured && (
        <div className="self-start">
          <Segments
            aria-label={t("show_as")}
            size="sm"
            value={view}
            options={[
              { value: "pages", label: t("show_pages") },
              { value: "text", label: t("show_text") },
            ]}
            onChange={setView}
          />
        </div>
      )}
      {passages.isPending && <Skeleton className="h-40" />}
      {pictured && view === "pages" && passages.isSuccess && (
        <PagePictures key={open?.ordinal} document={document} cited={open} />
      )}
      {!(pictured && view === "pages") && (
        <>
          <ol className="flex max-w-3xl flex-col gap-1">
            {items.map((one, index) => (
              <OnePassage
                key={one.ordinal}
                passage={one}
                isOpen={one === open}
                page={one.page !== items[index - 1]?.page ? one.page : null}
              />
            ))}
          </ol>
          {passages.hasNextPage && (
            <Button
              className="self-center"
              busy={passages.isFetchingNextPage}
              onClick={() => void passages.fetchNextPage()}
            >
              {t("more")}
            </Button>
          )}
        </>
      )}
    </div>
  );
}

const intoView = (element: HTMLLIElement | null) => {
  element?.scrollIntoView?.({ block: "center" });
};

/** The part of a passage that the one before it does not contain; all of it where it is cited. */
function OnePassage({ passage, isOpen, page }: { passage: Passage; isOpen: boolean; page: number | null }) {
  const t = useKnowledgeTexts();
  const text = isOpen ? passage.text : passage.text.slice(passage.core - passage.start);
  return (
    <li ref={isOpen ? intoView : null}>
      {page !== null && <h3 className="mt-3 mb-1 text-xs font-medium text-muted">{t("page", { page })}</h3>}
      <div
        className={cx(
          "whitespace-pre-wrap wrap-anywhere rounded-md border px-3 py-2",
          isOpen ? "border-accent bg-accent-soft" : "border-transparent",
        )}
      >
        {isOpen && <Chip tone="accent">{t("cited")}</Chip>}
        {isOpen ? <mark className="block bg-transparent text-ink">{text}</mark> : text}
      </div>
    </li>
  );
}
