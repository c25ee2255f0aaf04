import { useQuery } from "@tanstack/react-query";
import { Package } from "lucide-react";
import { useState } from "react";
import { type Pack, packsQuery, removePack } from "@/api/queries/packs";
import { Confirm, EmptyState, Problem, Rows, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { ChooseFile, type ChosenPack } from "./ChooseFile";
import { InstallDialog } from "./InstallDialog";
import { CHANGED } from "./invalidates";
import { PackRow } from "./PackRow";
import { Signers } from "./Signers";

/** The packs of the installation: what each brings and may access, and which flows use it. */
export function PacksSection() {
  const t = useSettingsTexts();
  const packs = useQuery(packsQuery);
  const [chosen, setChosen] = useState<ChosenPack | null>(null);
  const [removing, setRemoving] = useState<Pack | null>(null);
  const remove = useChange({ change: removePack, touches: CHANGED, failed: t("pack_remove_failed") });
  const some = packs.data && packs.data.length > 0;
  return (
    <Section title={t("packs")} about={t("packs_about")} action={some && <ChooseFile onChosen={setChosen} />}>
      {packs.isError && <Problem error={packs.error} retry={() => void packs.refetch()} />}
      {packs.isPending && <Skeleton className="h-40" />}
      {packs.data?.length === 0 && (
        <EmptyState icon={<Package />} title={t("packs_none")} action={<ChooseFile onChosen={setChosen} />}>
          {t("packs_none_more")}
        </EmptyState>
      )}
      {some && (
        <Rows label={t("packs")}>
          {packs.data.map((pack) => (
            <PackRow key={pack.name} pack={pack} onRemove={() => setRemoving(pack)} />
          ))}
        </Rows>
      )}
      {packs.data && <Signers />}
      {chosen && <InstallDialog chosen={chosen} onClose={() => setChosen(null)} />}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("pack_remove_what", { name: removing?.title ?? "" })}
        action={t("remove")}
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate(removing.name, { onSettled: () => setRemoving(null) })}
      >
        {t("pack_remove_more")}
      </Confirm>
    </Section>
  );
}
