import { useMutation } from "@tanstack/react-query";
import { BookOpen, ShieldCheck } from "lucide-react";
import { verifyCitations } from "@/api/queries/knowledge";
import { Button, Chip, toastError } from "@/components/ui";
import { PassageLink } from "../step/KnowledgeCall";
import { useRunTexts } from "../texts";
import type { Source } from "./sources";
import { useChatTexts } from "./texts";

/** The passages that an answer cites. Whether their text is in the documents is shown once it was verified. */
export function Sources({ sources }: { sources: readonly Source[] }) {
  const t = useChatTexts();
  const says = useRunTexts();
  const verify = useMutation({
    mutationFn: () => verifyCitations(sources),
    onError: (error) => toastError(t("verify_failed"), error),
  });
  if (sources.length === 0) return null;
  return (
    <div className="flex flex-col items-start gap-1 px-1">
      <ul aria-label={t("sources")} className="flex flex-col gap-1">
        {sources.map((source, index) => {
          const verdict = verify.data?.citations[index];
          return (
            <li key={source.number} className="flex flex-wrap items-center gap-2 text-sm">
              <BookOpen aria-hidden className="size-4 text-faint" />
              <PassageLink passage={source}>
                [{source.number}] {source.document}
                {source.page !== null && `, ${says("cited_page", { page: source.page })}`}
              </PassageLink>
              <Chip>{says("cited_version", { version: source.version })}</Chip>
              {verdict && (
                <Chip tone={verdict.verified ? "ok" : "bad"}>
                  {verdict.verified ? t("verified") : t("not_verified")}
                </Chip>
              )}
              {verdict && !verdict.verified && <span className="text-xs text-muted">{verdict.reason}</span>}
            </li>
          );
        })}
      </ul>
      {!verify.data && (
        <Button size="sm" kind="ghost" icon={<ShieldCheck />} busy={verify.isPending} onClick={() => verify.mutate()}>
          {t("verify_sources")}
        </Button>
      )}
    </div>
  );
}
