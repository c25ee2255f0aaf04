import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Approval } from "@/api/queries/approvals";
import { createLink, deleteLink, linkKeys, linksQuery } from "@/api/queries/reviews";
import { Button, CopyButton, Field, Input, Problem, Toggle } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { useInboxTexts } from "../texts";

/** One-time links with which somebody outside decides in the user's place. */
export function OutsideLinks({ approval }: { approval: Approval }) {
  const t = useInboxTexts();
  const [recipient, setRecipient] = useState("");
  const [send, setSend] = useState(true);
  const sends = recipient.includes("@") && approval.notices.some((one) => one.connection);
  const client = useQueryClient();
  const { data: links = [] } = useQuery(linksQuery(approval.id));
  const again = () => client.invalidateQueries({ queryKey: linkKeys.of(approval.id) });
  const creating = useMutation({
    mutationFn: () => createLink(approval.id, recipient.trim(), sends && send),
    onSuccess: again,
  });
  const deleting = useMutation({ mutationFn: (id: string) => deleteLink(approval.id, id), onSuccess: again });
  if (!approval.can_decide && links.length === 0) return null;
  return (
    <details className="rounded-lg border border-line bg-surface px-4 py-3">
      <summary className="cursor-pointer text-sm font-medium">{t("outside")}</summary>
      <div className="flex flex-col gap-3 pt-3">
        {approval.can_decide && (
          <form
            className="flex flex-wrap items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              creating.mutate();
            }}
          >
            <div className="min-w-0 flex-1">
              <Field label={t("outside_recipient")} help={t("outside_about")}>
                {(control) => (
                  <Input {...control} value={recipient} onChange={(event) => setRecipient(event.target.value)} />
                )}
              </Field>
            </div>
            {sends && <Toggle label={t("outside_send")} checked={send} onChange={setSend} />}
            <Button type="submit" busy={creating.isPending} disabled={recipient.trim() === ""}>
              {t("outside_create")}
            </Button>
          </form>
        )}
        {(creating.error ?? deleting.error) && <Problem error={creating.error ?? deleting.error} />}
        {creating.data && (
          <p className="flex items-center gap-2 text-sm">
            <code className="min-w-0 flex-1 break-all rounded bg-sunken px-2 py-1">{creating.data.url}</code>
            <CopyButton text={creating.data.url} label={t("outside_copy")} />
          </p>
        )}
        <ul className="flex flex-col gap-1 text-sm text-muted">
          {links.map((link) => (
            <li key={link.id} className="flex flex-wrap items-center gap-2">
              <span className="min-w-0 break-words">{link.recipient}</span>
              <span>
                {link.used_at
                  ? t("outside_used", { when: dateTime(link.used_at) })
                  : t("outside_until", { when: dateTime(link.expires_at) })}
              </span>
              {!link.used_at && approval.status === "pending" && (
                <button type="button" className="text-accent hover:underline" onClick={() => deleting.mutate(link.id)}>
                  {t("outside_delete")}
                </button>
              )}
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
