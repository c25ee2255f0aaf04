import { RotateCw } from "lucide-react";
import { useState } from "react";
import { type KeyPurpose, keyringKeys, type RingKey, retireKey, rotateKey } from "@/api/queries/keyring";
import { Button, Confirm, Rows, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { KeyRow } from "./KeyRow";
import { RevokeDialog } from "./RevokeDialog";
import { Rotation } from "./Rotation";

interface KeysOfProps {
  purpose: KeyPurpose;
  /** The newest first. */
  keys: readonly RingKey[];
}

/** The keys of one purpose, how a rotation proceeds, and what can be done with them. */
export function KeysOf({ purpose, keys }: KeysOfProps) {
  const t = useSettingsTexts();
  const [rotating, setRotating] = useState(false);
  const [retiring, setRetiring] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<string | null>(null);
  const touches = [keyringKeys.all];
  const rotate = useChange({ change: () => rotateKey(purpose), touches, failed: t("rotate_failed") });
  const retire = useChange({ change: retireKey, touches, failed: t("retire_failed") });
  const running = keys.find((key) => key.running);
  const title = t(`keys_of_${purpose}`);
  const confirmRetire = () =>
    retiring &&
    retire.mutate(retiring, {
      onSuccess: ({ left }) => {
        if (left) toast({ title: t("key_left"), detail: t("key_left_more", { key: retiring }), tone: "neutral" });
      },
      onSettled: () => setRetiring(null),
    });
  return (
    <Part
      title={title}
      about={t(`keys_of_${purpose}_about`)}
      action={
        <Button
          size="sm"
          icon={<RotateCw />}
          aria-label={t(`rotate_${purpose}`)}
          disabled={running?.state === "prepared"}
          onClick={() => setRotating(true)}
        >
          {t("rotate")}
        </Button>
      }
    >
      {running && <Rotation running={running} keys={keys} />}
      <Rows label={title}>
        {keys.map((key) => (
          <KeyRow
            key={key.id}
            ringKey={key}
            reencrypting={running !== undefined}
            onRetire={() => setRetiring(key.id)}
            onRevoke={() => setRevoking(key.id)}
          />
        ))}
      </Rows>
      <Confirm
        open={rotating}
        onOpenChange={setRotating}
        title={t(`rotate_${purpose}_sure`)}
        kind="primary"
        action={t("rotate")}
        busy={rotate.isPending}
        onConfirm={() => rotate.mutate(undefined, { onSettled: () => setRotating(false) })}
      >
        {t(`rotate_${purpose}_more`)}
      </Confirm>
      <Confirm
        open={retiring !== null}
        onOpenChange={(open) => !open && setRetiring(null)}
        title={t("retire_what", { key: retiring ?? "" })}
        action={t("retire")}
        busy={retire.isPending}
        onConfirm={confirmRetire}
      >
        {t(`retire_${purpose}_more`)}
      </Confirm>
      {revoking && <RevokeDialog ringKey={revoking} onClose={() => setRevoking(null)} />}
    </Part>
  );
}
