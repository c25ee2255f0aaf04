import { Callout, Field, Segments } from "@/components/ui";
import { LinesField } from "./LinesField";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

/** What content from outside may decide at a step: nothing that leaves, or the tools and hosts of a list. */
export function OutsideFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const chosen = policy.outside_content ?? "refuse";
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("outside")} help={t("outside_about")} error={issue("outside_content")}>
        {() => (
          <span>
            <Segments
              aria-label={t("outside")}
              size="sm"
              value={chosen}
              options={[
                { value: "refuse", label: t("outside_refuse") },
                { value: "allow", label: t("outside_allow") },
              ]}
              onChange={(outside_content) => set({ outside_content })}
            />
          </span>
        )}
      </Field>
      {chosen === "allow" ? (
        <Callout tone="warn">{t("outside_warning")}</Callout>
      ) : (
        <LinesField
          label={t("outside_list")}
          help={t("outside_list_about")}
          placeholder="api.example.org"
          list={policy.outside_allowlist ?? []}
          onChange={(list) => set({ outside_allowlist: list })}
        />
      )}
    </div>
  );
}
