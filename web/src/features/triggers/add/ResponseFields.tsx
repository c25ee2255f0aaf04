import { Field, Input, Textarea } from "@/components/ui";
import { useTriggerTexts } from "../texts";
import type { ResponseDraft } from "./response";

interface Props {
  draft: ResponseDraft;
  onChange: (draft: ResponseDraft) => void;
}

/** Status, headers and body that a caller receives with the result of a run. */
export function ResponseFields({ draft, onChange }: Props) {
  const t = useTriggerTexts();
  return (
    <>
      {(["status", "failedStatus", "mediaType", "body"] as const).map((name) => (
        <Field key={name} label={t(`response_${name}`)} help={t(`response_${name}_help`)} required={name !== "body"}>
          {(control) => (
            <Input
              {...control}
              className="font-mono"
              value={draft[name]}
              onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <div className="sm:col-span-2">
        <Field label={t("response_headers")} help={t("response_headers_help")}>
          {(control) => (
            <Textarea
              {...control}
              className="font-mono"
              value={draft.headers}
              onChange={(event) => onChange({ ...draft, headers: event.target.value })}
            />
          )}
        </Field>
      </div>
    </>
  );
}
