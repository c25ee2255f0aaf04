import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { apiKeysQuery } from "@/api/queries/apiKeys";
import { Button, EmptyState } from "@/components/ui";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { KeyDialog } from "./KeyDialog";
import { KeyList } from "./KeyList";

/** Keys with which programs act for the person. */
export function KeysSection() {
  const t = useSettingsTexts();
  const keys = useQuery(apiKeysQuery());
  const [making, setMaking] = useState(false);
  const add = (
    <Button kind="primary" icon={<Plus />} onClick={() => setMaking(true)}>
      {t("make_key")}
    </Button>
  );
  return (
    <Section title={t("keys")} about={t("keys_about")} action={add}>
      <KeyList
        query={keys}
        empty={<EmptyState icon={<KeyRound />} title={t("no_keys")} children={t("no_keys_more")} action={add} />}
      />
      {making && <KeyDialog onClose={() => setMaking(false)} />}
    </Section>
  );
}
