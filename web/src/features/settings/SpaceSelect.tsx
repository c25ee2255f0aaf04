import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { spacesQuery } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import { Select } from "@/components/ui";
import { useSettingsTexts } from "./texts";

/** The space that a section shows the things of: the person's own at first. */
export function useSpace() {
  const { me } = useRights();
  const spaces = useQuery(spacesQuery).data ?? [];
  const [chosen, choose] = useState<string>();
  const space = spaces.find(({ id }) => id === (chosen ?? me?.space?.id)) ?? spaces[0];
  return { spaces, space, choose };
}

/** Chooses one; nothing where there is but one. */
export function SpaceSelect({ spaces, space, choose }: ReturnType<typeof useSpace>) {
  const t = useSettingsTexts();
  if (spaces.length < 2) return null;
  return (
    <Select
      aria-label={t("space")}
      className="w-48"
      value={space?.id}
      options={spaces.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={choose}
    />
  );
}
