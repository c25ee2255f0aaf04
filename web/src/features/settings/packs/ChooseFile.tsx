import { Upload } from "lucide-react";
import { useRef } from "react";
import { type PackPreview, previewPack } from "@/api/queries/packs";
import { Button } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const MOST_BYTES = 2 * 1024 * 1024;

export interface ChosenPack {
  /** The archive in base64. */
  content: string;
  preview: PackPreview;
}

/** Chooses the file of a pack, and asks the server what installing it would do. */
export function ChooseFile({ onChosen }: { onChosen: (chosen: ChosenPack) => void }) {
  const t = useSettingsTexts();
  const chooser = useRef<HTMLInputElement>(null);
  const read = useChange({
    change: async (file: File): Promise<ChosenPack> => {
      if (file.size > MOST_BYTES) throw new Error(t("pack_too_large"));
      const content = await base64Of(file);
      return { content, preview: await previewPack(content) };
    },
    touches: [],
    failed: t("pack_unreadable"),
  });
  return (
    <>
      <input
        ref={chooser}
        type="file"
        accept=".hgpack,.whl"
        hidden
        aria-label={t("pack_file")}
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) read.mutate(file, { onSuccess: onChosen });
        }}
      />
      <Button kind="primary" icon={<Upload />} busy={read.isPending} onClick={() => chooser.current?.click()}>
        {t("pack_install")}
      </Button>
    </>
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
