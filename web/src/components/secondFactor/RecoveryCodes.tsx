import { Button, CopyButton } from "@/components/ui";
import { useSecondFactorTexts } from "./texts";

/** Recovery codes, shown this once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const t = useSecondFactorTexts();
  const text = codes.join("\n");
  return (
    <div className="flex flex-col gap-3">
      <h3 className="font-semibold">{t("codes")}</h3>
      <p className="text-sm text-muted">{t("codes_more")}</p>
      <div className="flex items-start gap-2 rounded-md border border-line-strong bg-sunken p-3">
        <ul aria-label={t("codes")} className="flex flex-1 flex-col gap-y-1 font-mono text-sm">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton text={text} label={t("copy_codes")} />
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <a
          download="headgate-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
          className="flex items-center px-3 font-medium text-accent hover:underline"
        >
          {t("save_codes")}
        </a>
        <Button kind="primary" onClick={onDone}>
          {t("kept")}
        </Button>
      </div>
    </div>
  );
}
