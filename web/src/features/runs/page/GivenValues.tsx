import type { RunOut } from "@/api/types";
import { FileLink } from "@/components/files/FileLink";
import { takesFile } from "@/components/files/fields";
import { ValueView } from "@/components/values/ValueView";
import { useDraft } from "@/lib/draft";
import { useRunTexts } from "../texts";

/** What a run was started with: its text, its answers under their questions, its files. */
export function GivenValues({ run }: { run: RunOut }) {
  const t = useRunTexts();
  const form = useDraft((state) => state.document.form);
  const answers = Object.entries(run.input.form_data).filter(([id]) => {
    const field = form.find((one) => one.id === id);
    return !field || !takesFile(field);
  });
  const nothing = !run.input.text && answers.length === 0 && run.input.file_ids.length === 0;
  if (nothing) return <p className="text-sm text-muted">{t("nothing_asked")}</p>;
  return (
    <dl className="flex flex-col gap-3">
      {run.input.text && (
        <div>
          <dt className="text-xs font-medium text-muted">{t("input_text")}</dt>
          <dd>
            <ValueView value={run.input.text} />
          </dd>
        </div>
      )}
      {answers.map(([id, value]) => (
        <div key={id}>
          <dt className="text-xs font-medium text-muted">{form.find((one) => one.id === id)?.label || id}</dt>
          <dd>
            <ValueView value={value} />
          </dd>
        </div>
      ))}
      {run.input.file_ids.map((id) => (
        <div key={id}>
          <dt className="sr-only">{t("attach")}</dt>
          <dd>
            <FileLink id={id} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
