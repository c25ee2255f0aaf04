import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Link2 } from "lucide-react";
import { useState } from "react";
import { type FormLink, linksQuery, revokeLink, type Trigger, triggerKeys } from "@/api/queries/triggers";
import { Button, Chip, Problem, Skeleton, type Tone } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";
import { NewLinks } from "./NewLinks";

const TONES: Record<FormLink["state"], Tone> = { open: "info", used: "ok", expired: "neutral", revoked: "neutral" };

/** The newest one-time links of a form, and what became of each. */
export function LinkList({ trigger }: { trigger: Trigger }) {
  const t = useTriggerTexts();
  const links = useQuery(linksQuery(trigger.id));
  const [adding, setAdding] = useState(false);
  return (
    <section aria-label={t("links")} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <h4 className="font-medium">{t("links")}</h4>
        <span className="min-w-0 flex-1 basis-full text-muted sm:basis-48">{t("links_about")}</span>
        <Button size="sm" icon={<Link2 />} onClick={() => setAdding(true)}>
          {t("links_add")}
        </Button>
      </div>
      {links.isError && <Problem error={links.error} retry={() => void links.refetch()} />}
      {links.isPending && <Skeleton className="h-8" />}
      {links.data && links.data.length > 0 && (
        <ul className="flex max-h-60 flex-col divide-y divide-line overflow-y-auto text-sm">
          {links.data.map((link) => (
            <LinkItem key={link.id} link={link} flowId={trigger.flow_id} />
          ))}
        </ul>
      )}
      {adding && <NewLinks triggerId={trigger.id} onClose={() => setAdding(false)} />}
    </section>
  );
}

function LinkItem({ link, flowId }: { link: FormLink; flowId: string }) {
  const t = useTriggerTexts();
  const revoke = useChange({
    change: () => revokeLink(link.trigger_id, link.id),
    touches: [triggerKeys.links(link.trigger_id)],
    failed: t("failed"),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <span className="min-w-0 wrap-anywhere">{link.label || t("link_unnamed")}</span>
      <Chip tone={TONES[link.state]}>{t(`link_${link.state}`)}</Chip>
      <span className="text-muted">
        {link.used_at
          ? dateTime(link.used_at)
          : link.expires_at
            ? t("link_expires", { when: dateTime(link.expires_at) })
            : t("link_created", { when: dateTime(link.created_at) })}
      </span>
      <span className="ml-auto">
        {link.run_id && (
          <Link
            to="/flows/$flowId/runs/$runId"
            params={{ flowId, runId: link.run_id }}
            className="font-medium text-accent hover:underline"
          >
            {t("open_run")}
          </Link>
        )}
        {link.state === "open" && (
          <Button size="sm" busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {t("link_revoke")}
          </Button>
        )}
      </span>
    </li>
  );
}
