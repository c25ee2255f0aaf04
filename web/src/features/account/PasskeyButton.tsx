import { useMutation } from "@tanstack/react-query";
import { Fingerprint } from "lucide-react";
import { knowsPasskeys, signInWithPasskey } from "@/api/queries/passkeys";
import { Button } from "@/components/ui";
import { type Refusal, refusalOf, said } from "./refusal";
import { useAccountTexts } from "./texts";

interface PasskeyButtonProps {
  onDone: () => void;
  onRefused: (refusal: Refusal) => void;
}

/** Signs in with a passkey, where the browser knows them. */
export function PasskeyButton({ onDone, onRefused }: PasskeyButtonProps) {
  const t = useAccountTexts();
  const sign = useMutation({
    mutationFn: signInWithPasskey,
    onSuccess: onDone,
    // The browser's own refusals are for a passkey that was not chosen.
    onError: (error) => onRefused(error instanceof DOMException ? said("passkey_dismissed") : refusalOf(error)),
  });
  if (!knowsPasskeys()) return null;
  return (
    <Button size="lg" icon={<Fingerprint />} busy={sign.isPending || sign.isSuccess} onClick={() => sign.mutate()}>
      {t("with_passkey")}
    </Button>
  );
}
