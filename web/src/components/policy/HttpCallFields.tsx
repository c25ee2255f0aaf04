import type { components } from "@/api/schema";
import { PairsEditor, VariableTextBox } from "@/components/fields";
import { Field, Input } from "@/components/ui";
import { usePolicyTexts } from "./texts";

type HttpCall = components["schemas"]["HttpCall"];

interface HttpCallFieldsProps {
  nodeId: string;
  call: HttpCall | null | undefined;
  onChange: (call: HttpCall) => void;
  /** Whether a body is sent. */
  body: boolean;
  error: string | null;
}

/** A web request of a step: where, with which headers and body; keys as references to secrets. */
export function HttpCallFields({ nodeId, call, onChange, body, error }: HttpCallFieldsProps) {
  const t = usePolicyTexts();
  const now = call ?? { url: "" };
  const set = (change: Partial<HttpCall>) => onChange({ ...now, ...change });
  return (
    <div className="flex flex-col gap-3 border-line border-l-2 pl-3">
      <Field label={t("url")} required error={error}>
        {(control) => (
          <VariableTextBox
            {...control}
            nodeId={nodeId}
            label={t("url")}
            value={now.url}
            placeholder={t("url_placeholder")}
            onChange={(url) => set({ url })}
          />
        )}
      </Field>
      <Field label={t("headers")}>
        {() => (
          <PairsEditor
            label={t("headers")}
            nodeId={nodeId}
            value={now.headers ?? {}}
            secrets
            hint={t("headers_hint")}
            onChange={(headers) => set({ headers })}
          />
        )}
      </Field>
      {body && (
        <Field label={t("body")} help={t("body_help")}>
          {(control) => (
            <VariableTextBox
              {...control}
              nodeId={nodeId}
              label={t("body")}
              multiline
              mono
              value={now.body ?? "{}"}
              onChange={(text) => set({ body: text })}
            />
          )}
        </Field>
      )}
      <Field label={t("timeout")}>
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            className="max-w-32"
            defaultValue={String(now.timeout_seconds ?? 30)}
            onBlur={(event) => {
              const seconds = Number(event.target.value.replace(",", "."));
              if (seconds > 0 && seconds <= 300) set({ timeout_seconds: seconds });
              else event.target.value = String(now.timeout_seconds ?? 30);
            }}
          />
        )}
      </Field>
    </div>
  );
}
