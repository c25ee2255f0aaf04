import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "@/lib/copyText";
import { IconButton } from "./Button";
import { useUiTexts } from "./texts";
import { toastError } from "./toasts";

/** Copies a text, then does something, or says that it was not copied. */
export function useCopy() {
  const t = useUiTexts();
  return (text: string, then: () => void) =>
    void copyText(text).then(then, (error: unknown) => toastError(t("copy_failed"), error));
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useUiTexts();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = useCopy();
  return (
    <IconButton
      size="sm"
      label={done ? t("copied") : (label ?? t("copy"))}
      onClick={() => copy(text, () => setDone(true))}
    >
      {done ? <Check className="text-ok" /> : <Copy />}
    </IconButton>
  );
}
