import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Download, Paperclip } from "lucide-react";
import { contentAddress, documentQuery, type KnowledgeDocument } from "@/api/queries/knowledge";
import { Callout, Chip, cx, Problem, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { Contents, hasPictures } from "./Contents";
import { DocumentState } from "./state";

/** A document as its passages or, of a PDF, as pictures of its pages, with the cited passage marked. */
export function DocumentPanel({ baseId, documentId }: { baseId: string; documentId: string }) {
  const t = useKnowledgeTexts();
  const { passage, cited } = useSearch({ from: "/inside/knowledge/{-$baseId}" });
  const document = useQuery(documentQuery(baseId, documentId));
  const ordinal = passage === undefined ? undefined : Number(passage);
  const pictured = document.data !== undefined && hasPictures(document.data);
  return (
    <div className={cx("mx-auto flex flex-col gap-4 px-4 py-5", pictured ? "max-w-6xl" : "max-w-3xl")}>
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
          <Contents document={document.data} ordinal={ordinal} cited={cited} />
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
