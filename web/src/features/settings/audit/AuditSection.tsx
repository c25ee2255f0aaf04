import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Download, ScrollText, ShieldCheck } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { auditQuery, verifyAudit } from "@/api/queries/audit";
import { Button, Callout, EmptyState, Input, Listing, Menu, Problem, Select, toastError } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { AuditRow } from "./AuditRow";

const KINDS = [
  "flow", "run", "variable", "provider", "api_key", "connection", "mcp_server", "user", "session", "space", "assistant", "component",
  "file", "workspace", "model_class", "delivery", "tenant",
] as const; // biome-ignore format: one line each would say no more
const EVERYTHING = "*";

/** Who changed what, and whether the log is whole. */
export function AuditSection() {
  const t = useSettingsTexts();
  const [actor, setActor] = useState("");
  const [kind, setKind] = useState<string>(EVERYTHING);
  const filter = useDeferredValue({ actor: actor.trim(), action: kind === EVERYTHING ? "" : `${kind}.` });
  const pages = useInfiniteQuery(auditQuery(filter));
  const verify = useMutation({ mutationFn: verifyAudit, onError: (error) => toastError(t("verify_failed"), error) });
  const exported = (format: string) => () => window.location.assign(`/api/v1/audit/export?format=${format}`);
  const items = pages.data?.pages.flatMap((page) => page.items);
  return (
    <Section
      title={t("audit")}
      about={t("audit_about")}
      action={
        <div className="flex gap-2">
          <Menu
            items={[
              { id: "jsonl", label: t("as_json_lines"), onSelect: exported("jsonl") },
              { id: "csv", label: t("as_csv"), onSelect: exported("csv") },
            ]}
          >
            <Button icon={<Download />}>{t("export")}</Button>
          </Menu>
          <Button kind="primary" icon={<ShieldCheck />} busy={verify.isPending} onClick={() => verify.mutate()}>
            {t("verify")}
          </Button>
        </div>
      }
    >
      {verify.data && <Verdict {...verify.data} />}
      <div className="flex flex-wrap gap-2">
        <Input
          type="search"
          aria-label={t("who")}
          placeholder={t("who_placeholder")}
          className="w-60!"
          value={actor}
          onChange={(event) => setActor(event.target.value)}
        />
        <Select
          aria-label={t("what")}
          className="w-52"
          value={kind}
          options={[
            { value: EVERYTHING, label: t("everything") },
            ...KINDS.map((one) => ({ value: one as string, label: t(`kind_${one}`) })),
          ]}
          onChange={setKind}
        />
      </div>
      <Listing
        label={t("audit")}
        query={{ ...pages, data: items }}
        empty={
          <EmptyState icon={<ScrollText />} title={t("no_entries")}>
            {t("no_entries_more")}
          </EmptyState>
        }
      >
        {(one) => <AuditRow key={one.seq} entry={one} />}
      </Listing>
      {pages.hasNextPage && (
        <Button className="self-center" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t("older")}
        </Button>
      )}
      {pages.isFetchNextPageError && <Problem error={pages.error} />}
    </Section>
  );
}

type VerdictOut = Awaited<ReturnType<typeof verifyAudit>>;

function Verdict({ verified, entries, faults, more_faults }: VerdictOut) {
  const t = useSettingsTexts();
  if (verified) {
    return (
      <Callout tone="ok" title={t("chain_holds")}>
        {t("chain_holds_more", { entries: number(entries) })}
      </Callout>
    );
  }
  return (
    <Callout tone="bad" title={t("chain_broken", { count: faults.length + more_faults })}>
      <ul>
        {faults.map((one) => (
          <li key={`${one.where} ${one.what}`}>
            <strong>{one.where}</strong>: {one.what}
          </li>
        ))}
      </ul>
    </Callout>
  );
}
