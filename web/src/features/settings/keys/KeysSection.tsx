import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { type ApiKey, apiKeyKeys, apiKeysQuery, revokeApiKey } from "@/api/queries/apiKeys";
import { Button, Chip, Confirm, EmptyState, Listing, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { KeyDialog } from "./KeyDialog";
import { keyState } from "./keyState";

/** Keys with which programs act for the person. */
export function KeysSection() {
  const t = useSettingsTexts();
  const keys = useQuery(apiKeysQuery);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const revoke = useChange({ change: revokeApiKey, touches: [apiKeyKeys.all], failed: t("revoke_failed") });
  const add = (
    <Button kind="primary" icon={<Plus />} onClick={() => setMaking(true)}>
      {t("make_key")}
    </Button>
  );
  return (
    <Section title={t("keys")} about={t("keys_about")} action={add}>
      <Listing
        label={t("keys")}
        query={keys}
        empty={<EmptyState icon={<KeyRound />} title={t("no_keys")} children={t("no_keys_more")} action={add} />}
      >
        {(one) => {
          const state = keyState(one);
          return (
            <Row
              key={one.id}
              muted={state !== "works"}
              title={
                <>
                  {one.name}
                  <code className="font-mono text-xs font-normal text-muted">{one.prefix}…</code>
                  {state !== "works" && <Chip tone="warn">{t(state)}</Chip>}
                </>
              }
              detail={[
                one.scopes?.join(", ") ?? t("all_scopes"),
                one.networks && t("only_from", { networks: one.networks.join(", ") }),
                one.expires_at ? t("until", { when: dateTime(one.expires_at) }) : t("never_expires"),
                one.last_used_at ? t("last_used", { when: ago(one.last_used_at) }) : t("never_used"),
              ]
                .filter(Boolean)
                .join(" · ")}
              aside={
                state === "works" && (
                  <Button size="sm" kind="danger" onClick={() => setRevoking(one)}>
                    {t("revoke")}
                  </Button>
                )
              }
            />
          );
        }}
      </Listing>
      {making && <KeyDialog onClose={() => setMaking(false)} />}
      <Confirm
        open={revoking !== null}
        onOpenChange={(open) => !open && setRevoking(null)}
        title={t("revoke_what", { what: revoking?.name ?? "" })}
        action={t("revoke")}
        busy={revoke.isPending}
        onConfirm={() => revoking && revoke.mutate(revoking.id, { onSettled: () => setRevoking(null) })}
      >
        {t("revoke_more")}
      </Confirm>
    </Section>
  );
}
