import type { components } from "@/api/schema";
import { CopyButton } from "@/components/ui";
import { Part } from "../imports/ReportPart";
import { useHomeTexts } from "../texts";

const BOX = "whitespace-pre-wrap break-words rounded-md bg-sunken px-3 py-2 font-mono text-xs";

/** What the first run of a template is filled in with. */
export function SampleData({ sample }: { sample: components["schemas"]["Sample"] }) {
  const t = useHomeTexts();
  const answers = Object.entries(sample.form ?? {});
  if (!sample.text && !sample.file && answers.length === 0) return null;
  return (
    <Part title={t("sample")}>
      <div className="mb-2 flex items-center gap-2">
        <p className="min-w-0 flex-1 text-muted">{t("sample_more")}</p>
        <CopyButton text={sample.file?.content ?? (sample.text || answers.map((one) => one.join(": ")).join("\n"))} />
      </div>
      {sample.text && <p className={BOX}>{sample.text}</p>}
      {answers.length > 0 && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
          {answers.map(([id, answer]) => (
            <div key={id} className="contents">
              <dt className="text-muted">{id}</dt>
              <dd className="min-w-0 break-words">{String(answer)}</dd>
            </div>
          ))}
        </dl>
      )}
      {sample.file && (
        <>
          <p className="mb-1 font-medium">{sample.file.name}</p>
          <pre className={BOX}>{sample.file.content}</pre>
        </>
      )}
    </Part>
  );
}
