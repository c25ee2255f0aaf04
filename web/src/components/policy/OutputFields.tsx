import { Field, Select } from "@/components/ui";
import { HttpCallFields } from "./HttpCallFields";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

const MODES = ["pass_through", "http_post"] as const;
const TYPES = ["text", "json", "pdf", "docx"] as const;

/** What becomes of a step's output. */
export function OutputFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const type = policy.output_type;
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t("output_mode")}
        help={policy.output_mode === "http_post" ? t("delivers") : undefined}
        error={issue("output_mode")}
      >
        {(control) => (
          <Select
            {...control}
            value={policy.output_mode}
            options={MODES.map((one) => ({ value: one, label: t(`mode_${one}`) }))}
            onChange={(output_mode) => set({ output_mode })}
          />
        )}
      </Field>
      {policy.output_mode === "http_post" && (
        <HttpCallFields
          nodeId={nodeId}
          call={policy.output_config}
          body
          error={issue("output_config") ?? issue("output_config.headers") ?? issue("output_config.url")}
          onChange={(output_config) => set({ output_config })}
        />
      )}
      <Field
        label={t("output_type")}
        help={type === "text" ? undefined : t(`about_${type}`)}
        error={issue("output_type")}
      >
        {(control) => (
          <Select
            {...control}
            value={type}
            options={TYPES.map((one) => ({ value: one, label: t(`out_${one}`) }))}
            onChange={(output_type) => set({ output_type })}
          />
        )}
      </Field>
    </div>
  );
}
