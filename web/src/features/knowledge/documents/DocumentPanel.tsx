import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Download, Paperclip } from "lucide-react";
import {
  contentAddress,
  documentQuery,
  type KnowledgeDocument,
  type Passage,
  passagesQuery,
} from "@/api/queries/knowledge";
import { Button, Callout, Chip, cx, Problem, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { DocumentState } from "./state";

/** A document as its passages, page by page, with the cited one marked. */
export function DocumentPanel({ baseId, documentId }: { baseId: string; documentId: string }) {
  const t = useKnowledgeTexts();
  const { passage, cited } = useSearch({ from: "/inside/knowledge/{-$baseId}" });
  const document = useQuery(documentQuery(baseId, documentId));
  const ordinal = passage === undefined ? undefined : Number(passage);
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-4 px-4 py-5">
      <Link
        to="/knowledge/{-$baseId}"
        params={{ baseId }}
        className="flex items-center gap-1.5 text-sm text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden className="size-4" />
        {t("documents")}
      </Link>
      {document.isError && <Problem error={document.error} />}
      {document.isPending && <Skeleton className="h-40" />}
      {document.data && (
        <>
          <About document={document.data} />
          <Passages document={document.data} ordinal={ordinal} cited={cited} />
        </>
      )}
    </div>
  );
}

function About({ document }: { document: KnowledgeDocument }) {
  const t = useKnowledgeTexts();
  return (
    <header className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="wrap-anywhere text-lg font-semibold">{document.name}</h2>
        <DocumentState document={document} />
        <Chip>{t("version", { version: document.version })}</Chip>
        <a
          href={contentAddress(document)}
          download
          aria-label={t("download", { name: document.name })}
          className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <Download aria-hidden className="size-4" />
        </a>
      </div>
      {document.parent_id && (
        <Link
          to="/knowledge/{-$baseId}"
          params={{ baseId: document.base_id }}
          search={{ document: document.parent_id }}
          className="flex items-center gap-1.5 text-sm text-accent hover:underline"
        >
          <Paperclip aria-hidden className="size-4" />
          {t("attached_to")}
        </Link>
      )}
      <p className="break-all font-mono text-xs text-faint">{t("checksum", { hash: document.sha256 })}</p>
      {document.problem && <Callout tone="bad">{document.problem}</Callout>}
      {document.notes.length > 0 && (
        <Callout tone="warn" title={t("not_understood")}>
          {document.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Callout>
      )}
    </header>
  );
}

interface PassagesProps {
  document: KnowledgeDocument;
  /** The passage to open, and the checksum of its text where it was cited. */
  ordinal: number | undefined;
  cited: string | undefined;
}

function Passages({ document, ordinal, cited }: PassagesProps) {
  const t = useKnowledgeTexts();
  const passages = useInfiniteQuery(passagesQuery(document.base_id, document.id, ordinal ?? 0));
  const items = passages.data?.pages.flat() ?? [];
  const open = items.find((one) => (cited ? one.sha256 === cited : one.ordinal === ordinal));
  const changed = cited !== undefined && passages.isSuccess && open === undefined;
  return (
    <div className="flex flex-col gap-2">
      {passages.isError && <Problem error={passages.error} />}
      {changed && <Callout tone="warn">{t("cited_changed", { now: document.version })}</Callout>}
      <ol className="flex flex-col gap-1">
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
