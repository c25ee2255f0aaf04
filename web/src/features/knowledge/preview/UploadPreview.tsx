import { useState } from "react";
import type { KnowledgeBase } from "@/api/queries/knowledge";
import { FormDialog } from "@/components/FormDialog";
import { PassagePreview } from "./PassagePreview";
import { SizeFields } from "./SizeFields";
import { numbersOf, sizesOf } from "./sizes";
import { usePreviewTexts } from "./texts";

interface UploadPreviewProps {
  base: KnowledgeBase;
  file: File;
  /** Adds the file. */
  onAdd: () => void;
  onClose: () => void;
}

/** How a file would be divided, before it is added; other sizes can be tried. */
export function UploadPreview({ base, file, onAdd, onClose }: UploadPreviewProps) {
  const t = usePreviewTexts();
  const [sizes, setSizes] = useState(sizesOf(base));
  const numbers = numbersOf(sizes);
  const tried =
    numbers && (numbers.passage_tokens !== base.passage_tokens || numbers.overlap_tokens !== base.overlap_tokens);
  return (
    <FormDialog
      title={t("preview_file", { name: file.name })}
      description={t("preview_more_about")}
      action={t("preview_add")}
      busy={false}
      onSubmit={onAdd}
      onClose={onClose}
    >
      <SizeFields sizes={sizes} onChange={setSizes} />
      {tried && (
        <p className="text-sm text-warn">
          {t("preview_tried", { tokens: base.passage_tokens, overlap: base.overlap_tokens })}
        </p>
      )}
      <PassagePreview baseId={base.id} source={file} sizes={numbers} />
    </FormDialog>
  );
}
