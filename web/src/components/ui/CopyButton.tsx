import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "@/lib/copyText";
import { IconButton } from "./Button";
import { useUiTexts } from "./texts";
import { toastError } from "./toasts";

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useUiTexts();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () =>
    void copyText(text).then(
      () => setDone(true),
      (error: unknown) => toastError(t("copy_failed"), error),
    );
  return (
    <IconButton size="sm" label={done ? t("copied") : (label ?? t("copy"))} onClick={copy}>
      {done ? <Check className="text-ok" /> : <Copy />}
    </IconButton>
  );
}
