import type { PackPreview } from "@/api/queries/packs";
import { Chip, Row, Rows } from "@/components/ui";
import { useSettingsTexts } from "../texts";

/** What an upgrade changes, and whether the flows that use the pack would be ready with the new code. */
export function Rehearsal({ preview }: { preview: PackPreview }) {
  const t = useSettingsTexts();
  const { changes, flows, other_flows, other_breaking } = preview;
  return (
    <>
      <section aria-label={t("pack_changes")} className="text-sm">
        <h3 className="font-semibold">{t("pack_changes")}</h3>
        {changes.length === 0 && <p className="text-muted">{t("pack_no_changes")}</p>}
        <ul className="list-disc pl-5">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      </section>
      <section aria-label={t("pack_rehearsal")} className="flex flex-col gap-2 text-sm">
        <h3 className="font-semibold">{t("pack_rehearsal")}</h3>
        <p className="text-muted">{flows.length + other_flows > 0 ? t("pack_rehearsal_more") : t("pack_no_flows")}</p>
        {flows.length > 0 && (
          <Rows label={t("pack_flows")}>
            {flows.map(({ flow_id, flow, problems }) => (
              <Row
                key={flow_id}
                title={flow}
                aside={
                  <Chip tone={problems.length > 0 ? "bad" : "ok"}>
                    {t(problems.length > 0 ? "pack_not_ready" : "pack_ready")}
                  </Chip>
                }
                detail={problems.join(" ")}
              />
            ))}
          </Rows>
        )}
        {other_flows > 0 && <p className="text-muted">{t("pack_other_flows", { count: other_flows })}</p>}
        {other_breaking > 0 && <p className="text-bad">{t("pack_other_breaking", { count: other_breaking })}</p>}
      </section>
    </>
  );
}
