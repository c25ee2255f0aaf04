import { useQuery } from "@tanstack/react-query";
import { modelClassesQuery } from "@/api/queries/models";
import { Chip } from "@/components/ui";
import { useStateTexts } from "./texts";

/** The declared type of a value; nothing where none is declared. */
export function StateType({ type }: { type: string }) {
  const t = useStateTexts();
  return type === "any" ? null : <Chip title={t("type")}>{type}</Chip>;
}

/** The classification of a value; nothing where none is known. */
export function StateClass({ level }: { level: number | null }) {
  const t = useStateTexts();
  const classes = useQuery(modelClassesQuery);
  if (level === null) return null;
  return <Chip title={t("classification")}>{classes.data?.levels[level] ?? `K${level}`}</Chip>;
}
