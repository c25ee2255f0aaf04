import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import { type KnowledgeDocument, type Passage, pagePassagesQuery, pagePictureQuery } from "@/api/queries/knowledge";
import { Chip, cx, IconButton, Input, Problem, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";

interface PagePicturesProps {
  document: KnowledgeDocument;
  /** The passage to open at its page. */
  cited: Passage | undefined;
}

/** A page of a PDF as a picture with the chosen passage marked, and the texts of its passages, for choosing one. */
export function PagePictures({ document, cited }: PagePicturesProps) {
  const t = useKnowledgeTexts();
  const [page, setPage] = useState(cited?.page ?? 1);
  const [chosen, setChosen] = useState(cited?.ordinal);
  const passages = useQuery(pagePassagesQuery(document, page));
  const pages = document.pages ?? 1;
  const shown = passages.data?.find(({ ordinal }) => ordinal === chosen);
  const turn = (to: number) => setPage(Math.min(pages, Math.max(1, Math.trunc(to) || 1)));
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center gap-1.5 text-sm text-muted">
        <IconButton size="sm" label={t("previous_page")} disabled={page <= 1} onClick={() => turn(page - 1)}>
          <ChevronLeft />
        </IconButton>
        <Input
          type="number"
          aria-label={t("page_number")}
          className="w-16"
          min={1}
          max={pages}
          value={page}
          onChange={({ target }) => turn(Number(target.value))}
        />
        <span>{t("of_pages", { count: pages })}</span>
        <IconButton size="sm" label={t("next_page")} disabled={page >= pages} onClick={() => turn(page + 1)}>
          <ChevronRight />
        </IconButton>
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
        <Picture key={page} document={document} page={page} marked={shown} />
        <section aria-label={t("passages_of_page", { page })} className="flex min-w-0 flex-col gap-1">
          {passages.isError && <Problem error={passages.error} />}
          {passages.isPending && <Skeleton className="h-24" />}
          {passages.data?.length === 0 && <p className="text-sm text-muted">{t("no_text_on_page")}</p>}
          <ol className="flex flex-col gap-1">
            {passages.data?.map((passage) => (
              <li key={passage.ordinal}>
                <button
                  type="button"
                  aria-pressed={passage.ordinal === chosen}
                  className={cx(
                    "block w-full rounded-md border px-3 py-2 text-left text-sm hover:bg-hover",
                    passage.ordinal === chosen ? "border-accent bg-accent-soft hover:bg-accent-soft" : "border-line",
                  )}
                  onClick={() => setChosen(passage.ordinal)}
                >
                  {passage.ordinal === cited?.ordinal && <Chip tone="accent">{t("cited")}</Chip>}
                  <span
                    className={cx(
                      "whitespace-pre-wrap wrap-anywhere",
                      passage.ordinal === chosen ? "block" : "line-clamp-4",
                    )}
                  >
                    {passage.text.trim()}
                  </span>
                  {passage.ordinal === chosen && !passage.marks && (
                    <span className="mt-1 block text-xs text-muted">{t("place_unknown")}</span>
                  )}
                </button>
              </li>
            ))}
          </ol>
        </section>
      </div>
    </div>
  );
}

const intoView = (element: SVGRectElement | null) => {
  element?.scrollIntoView?.({ block: "center" });
};

/** A page with the boxes of a passage on it, in points of the page. */
function Picture({
  document,
  page,
  marked,
}: {
  document: KnowledgeDocument;
  page: number;
  marked: Passage | undefined;
}) {
  const t = useKnowledgeTexts();
  const picture = useQuery(pagePictureQuery(document, page));
  const address = useAddress(picture.data);
  const [drawn, setDrawn] = useState(false);
  if (picture.isError) return <Problem error={picture.error} />;
  return (
    <div className="relative overflow-hidden rounded-md border border-line">
      {!drawn && <Skeleton className="aspect-[1/1.4]" />}
      {address && (
        <img
          src={address}
          alt={t("picture_of", { page, name: document.name })}
          className={drawn ? "block w-full" : "absolute inset-0 w-full opacity-0"}
          onLoad={() => setDrawn(true)}
        />
      )}
      {drawn && marked?.marks && (
        <svg
          aria-hidden
          data-theme="light" // the paper is white in both themes
          preserveAspectRatio="none"
          viewBox={`0 0 ${marked.marks.width} ${marked.marks.height}`}
          className="pointer-events-none absolute inset-0 size-full"
        >
          {marked.marks.boxes.map(({ left, top, right, bottom }, index) => (
            <rect
              key={`${marked.ordinal}-${left}-${top}`}
              ref={index === 0 ? intoView : null}
              data-testid="mark"
              x={left - 1}
              y={top - 1}
              width={right - left + 2}
              height={bottom - top + 2}
              rx={1}
              vectorEffect="non-scaling-stroke"
              fillOpacity={0.2}
              className="fill-(--accent) stroke-(--accent)"
            />
          ))}
        </svg>
      )}
    </div>
  );
}

/** An address of a content for as long as it is shown. */
function useAddress(content: Blob | undefined) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!content) return;
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return address;
}
