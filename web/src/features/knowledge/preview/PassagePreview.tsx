import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { previewQuery } from "@/api/queries/knowledgePreview";
import { Callout, Chip, cx, Problem, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import type { numbersOf } from "./sizes";
import { usePreviewTexts } from "./texts";

interface PassagePreviewProps {
  baseId: string;
  /** A file that is not stored, or the id of a document. */
  source: File | string;
  sizes: ReturnType<typeof numbersOf>;
}

/** The passages into which a document would be divided, with their tokens; what repeats is dimmed. */
export function PassagePreview({ baseId, source, sizes }: PassagePreviewProps) {
  const t = usePreviewTexts();
  const common = useKnowledgeTexts();
  const query = previewQuery(baseId, source, sizes ?? { passage_tokens: 0, overlap_tokens: 0 });
  const preview = useQuery({ ...query, enabled: sizes !== null, placeholderData: keepPreviousData });
  if (preview.isError) return <Problem error={preview.error} />;
  if (!preview.data) return sizes && <Skeleton className="h-40" />;
  const { passages, smallest, largest, tokens, notes, shown } = preview.data;
  return (
    <div className={cx("flex flex-col gap-2", preview.isPlaceholderData && "opacity-60")} aria-live="polite">
      <p className="text-sm text-muted">{t("preview_sum", { count: passages, smallest, largest, tokens })}</p>
      {notes.length > 0 && (
        <Callout tone="warn" title={common("not_understood")}>
          {notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Callout>
      )}
      <ol className="flex max-h-96 flex-col gap-2 overflow-y-auto rounded-md border border-line p-2">
        {shown.map((passage, at) => (
          <li key={passage.core} className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2">
            <div className="flex flex-wrap items-center gap-2">
              <Chip>{t("preview_tokens", { number: at + 1, count: passage.tokens })}</Chip>
              {passage.page !== null && <Chip>{common("page", { page: passage.page })}</Chip>}
              {passage.context && <span className="min-w-0 truncate text-xs text-faint">{passage.context}</span>}
            </div>
            <p className="whitespace-pre-wrap wrap-anywhere text-sm">
              <span className="text-faint" title={t("preview_overlap")}>
                {passage.text.slice(0, passage.core - passage.start)}
              </span>
              {passage.text.slice(passage.core - passage.start)}
            </p>
          </li>
        ))}
      </ol>
      {shown.length < passages && <p className="text-sm text-muted">{t("preview_more", { count: shown.length })}</p>}
    </div>
  );
}
