import { Link } from "@tanstack/react-router";
import { type Pack, type PackFlow, packKeys, updatePackFlow } from "@/api/queries/packs";
import { Button, Chip, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { Parts, Reach } from "./PackFacts";

/** One installed pack: version, signer, parts, access, and the flows that use it. */
export function PackRow({ pack, onRemove }: { pack: Pack; onRemove: () => void }) {
  const t = useSettingsTexts();
  return (
    <Row
      title={
        <>
          {pack.title}
          <code className="font-mono text-sm font-normal text-muted">
            {pack.name} {pack.version}
          </code>
          <Signed pack={pack} />
        </>
      }
      detail={[pack.description, t("pack_since", { when: dateTime(pack.installed_at) })].filter(Boolean).join(" · ")}
      aside={
        <Button size="sm" kind="danger" aria-label={t("pack_remove_what", { name: pack.title })} onClick={onRemove}>
          {t("remove")}
        </Button>
      }
    >
      <div className="mt-2 flex flex-col gap-1 text-sm">
        <Parts parts={pack.parts} />
        <Reach reach={pack.reach} />
        <div>
          <span className="text-muted">{pack.flows.length > 0 ? t("pack_flows") : null}</span>
          {pack.flows.length + pack.other_flows === 0 && <span className="text-muted">{t("pack_no_flows")}</span>}
          <ul>
            {pack.flows.map((flow) => (
              <FlowOf key={flow.flow_id} flow={flow} />
            ))}
          </ul>
          {pack.other_flows > 0 && <p className="text-muted">{t("pack_other_flows", { count: pack.other_flows })}</p>}
        </div>
      </div>
    </Row>
  );
}

function Signed({ pack: { signer, key_id } }: { pack: Pack }) {
  const t = useSettingsTexts();
  if (signer) return <Chip tone="ok">{t("pack_signed", { name: signer.name })}</Chip>;
  if (key_id) return <Chip tone="warn">{t("pack_signed_key", { key: key_id })}</Chip>;
  return <Chip tone="warn">{t("pack_unsigned")}</Chip>;
}

function FlowOf({ flow: { flow_id, flow, published, outdated } }: { flow: PackFlow }) {
  const t = useSettingsTexts();
  const update = useChange({
    change: updatePackFlow,
    touches: [packKeys.all, ["flows"]],
    failed: t("pack_update_failed"),
    done: t("pack_updated"),
  });
  return (
    <li className="flex flex-wrap items-center gap-2 py-0.5">
      <Link
        to="/flows/$flowId"
        params={{ flowId: flow_id }}
        className="min-w-0 text-accent wrap-anywhere hover:underline"
      >
        {flow}
      </Link>
      {published && <Chip>{t("pack_published")}</Chip>}
      {outdated && (
        <>
          <Chip tone="warn">{t("pack_outdated")}</Chip>
          <Button
            size="sm"
            busy={update.isPending}
            aria-label={t("pack_update_draft_of", { flow })}
            onClick={() => update.mutate(flow_id)}
          >
            {t("pack_update_draft")}
          </Button>
        </>
      )}
    </li>
  );
}
