import { useQuery } from "@tanstack/react-query";
import { collectionsQuery } from "@/api/queries/flowCollections";
import { Callout } from "@/components/ui";
import { useHomeTexts } from "../texts";

/** How long flows stay in the trash. */
export function TrashNote({ space }: { space: string | undefined }) {
  const t = useHomeTexts();
  const { data } = useQuery(collectionsQuery(space));
  if (!data) return null;
  const days = data.trash_days;
  return <Callout tone="info" title={days ? t("trash_days", { count: days }) : t("trash_kept")} />;
}
