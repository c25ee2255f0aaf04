import { useQuery } from "@tanstack/react-query";
import { type KeyPurpose, keyringQuery, type RingKey } from "@/api/queries/keyring";
import { Problem, Skeleton } from "@/components/ui";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { KeysOf } from "./KeysOf";

const PURPOSES: readonly KeyPurpose[] = ["secrets", "evidence"];

/** The keys of the installation: which encrypt secrets and which sign evidence, and their rotation. */
export function KeyringSection() {
  const t = useSettingsTexts();
  const keys = useQuery(keyringQuery);
  return (
    <Section title={t("keyring")} about={t("keyring_about")}>
      {keys.isError && <Problem error={keys.error} retry={() => void keys.refetch()} />}
      {keys.isPending && <Skeleton className="h-40" />}
      {keys.data &&
        PURPOSES.map((purpose) => <KeysOf key={purpose} purpose={purpose} keys={newestFirst(keys.data, purpose)} />)}
    </Section>
  );
}

function newestFirst(keys: readonly RingKey[], purpose: KeyPurpose): RingKey[] {
  return keys.filter((key) => key.purpose === purpose).reverse();
}
