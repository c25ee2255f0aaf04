import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type ApiKey, apiKeyKeys, revokeApiKey } from "@/api/queries/apiKeys";
import { Button, Chip, Confirm, Listing, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { keyState } from "./keyState";

/** API keys, each of which can be revoked. */
export function KeyList({ query, empty }: { query: UseQueryResult<ApiKey[]>; empty: ReactNode }) {
  const t = useSettingsTexts();
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const revoke = useChange({ change: revokeApiKey, touches: [apiKeyKeys.all], failed: t("revoke_failed") });
  return (
    <>
      <Listing label={t("keys")} query={query} empty={empty}>
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
    </>
  );
}
