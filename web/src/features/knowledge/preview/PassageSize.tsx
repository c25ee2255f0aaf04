import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { chooseSizes, documentsQuery, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { Button, Field, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "../texts";
import { PassagePreview } from "./PassagePreview";
import { SizeFields } from "./SizeFields";
import { numbersOf, sizesOf } from "./sizes";
import { usePreviewTexts } from "./texts";

/** How large the passages of a base are, with a preview on its documents. */
export function PassageSize({ base }: { base: KnowledgeBase }) {
  const t = usePreviewTexts();
  const { may } = useRights();
  const [choosing, setChoosing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span>{t("sizes", { tokens: base.passage_tokens, overlap: base.overlap_tokens })}</span>
      {may("knowledge.edit", base.space_id) && (
        <Button size="sm" onClick={() => setChoosing(true)}>
          {t("choose_sizes")}
        </Button>
      )}
      {choosing && <ChooseDialog base={base} onClose={() => setChoosing(false)} />}
    </div>
  );
}

function ChooseDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = usePreviewTexts();
  const common = useKnowledgeTexts();
  const [sizes, setSizes] = useState(sizesOf(base));
  const [document, setDocument] = useState("");
  const documents = useInfiniteQuery(documentsQuery(base.id)).data?.pages.flatMap((page) => page.items) ?? [];
  const numbers = numbersOf(sizes);
  const change = useChange<void>({
    change: () => (numbers ? chooseSizes(base.id, numbers) : Promise.reject(new Error("out of bounds"))),
    touches: [knowledgeKeys.bases],
  });
  return (
    <FormDialog
      title={t("passage_sizes")}
      description={t("passage_sizes_more")}
      action={common("save")}
      ready={numbers !== null}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <SizeFields sizes={sizes} onChange={setSizes} />
      {documents.length > 0 && (
        <Field label={t("preview_of")}>
          {(control) => (
            <Select
              {...control}
              value={document}
              options={[
                { value: "", label: t("preview_none") },
                ...documents.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onChange={setDocument}
            />
          )}
        </Field>
      )}
      {document && <PassagePreview baseId={base.id} source={document} sizes={numbers} />}
    </FormDialog>
  );
}
