import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { decideReview, type Review, reviewQuery } from "@/api/queries/reviews";
import { Callout, Problem, Skeleton } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { useTitle } from "@/lib/title";
import { DecisionForm } from "../detail/DecisionForm";
import { ShownValue } from "../detail/ShownValue";
import { type Edits, realEdits } from "../model/edits";
import { questionOf } from "../model/question";
import { useInboxTexts } from "../texts";

/** What a one-time link opens for somebody outside. Its token follows the `#`, which no server receives. */
export function ReviewPage() {
  const t = useInboxTexts();
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "");
  const { data, isPending, isError } = useQuery({ ...reviewQuery(token), enabled: token !== "" });
  useTitle(t("review"));
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-3xl flex-col gap-4 px-4 py-6 sm:px-6">
      <div className="flex items-center gap-2.5 font-semibold">
        <img src="/icon.svg" alt="" width={24} height={24} />
        Headgate
      </div>
      {(token === "" || isError) && <Callout tone="bad">{t("review_refused")}</Callout>}
      {token !== "" && isPending && <Skeleton className="h-80" />}
      {data && <Asked review={data} token={token} />}
    </main>
  );
}

function Asked({ review, token }: { review: Review; token: string }) {
  const t = useInboxTexts();
  const [edits, setEdits] = useState<Edits>({});
  const deciding = useMutation({ mutationFn: decideReview });
  const shown = review.tool ? "shown_arguments" : "shown";
  if (deciding.isSuccess) return <Callout tone="ok">{t("review_stored")}</Callout>;
  return (
    <>
      <header className="flex flex-col gap-1.5">
        <h1 className="whitespace-pre-wrap text-lg font-semibold [overflow-wrap:anywhere]">{questionOf(t, review)}</h1>
        <p className="text-sm text-muted">
          {t("review_about", { recipient: review.recipient, flow: review.flow_name })}{" "}
          {t("decide_before", { when: dateTime(review.expires_at) })}
        </p>
      </header>
      {deciding.error && <Problem error={deciding.error} />}
      <section aria-label={t(shown)} className="flex flex-col gap-2">
        <h2 className="text-sm font-medium text-muted">{t(shown)}</h2>
        <ShownValue approval={review} edits={edits} onEdit={setEdits} />
      </section>
      <DecisionForm
        approval={review}
        edits={realEdits(review.value, edits)}
        busy={deciding.isPending}
        onDecide={(body) => deciding.mutate({ ...body, token, content_hash: review.content_hash })}
      />
    </>
  );
}
