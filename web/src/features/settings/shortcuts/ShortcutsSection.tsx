import { Button, Callout, Rows } from "@/components/ui";
import { SHORTCUTS, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { ShortcutRow } from "./ShortcutRow";

const GROUPS = ["general", "canvas", "run", "assistant"] as const;

/** Every shortcut, and other keys for it. */
export function ShortcutsSection() {
  const t = useSettingsTexts();
  const { changed, setKeys } = useShortcutKeys();
  const others = Object.keys(changed).length;
  return (
    <Section
      title={t("shortcuts")}
      about={t("shortcuts_about")}
      action={
        <Button
          disabled={others === 0}
          onClick={() => {
            for (const { id } of SHORTCUTS) setKeys(id, null);
          }}
        >
          {t("reset_all")}
        </Button>
      }
    >
      {others > 0 && <Callout>{t("keys_changed", { count: others })}</Callout>}
      {GROUPS.map((group) => (
        <Part key={group} title={t(`group_${group}`)}>
          <Rows label={t(`group_${group}`)}>
            {SHORTCUTS.filter((one) => one.group === group).map((one) => (
              <ShortcutRow key={one.id} id={one.id} />
            ))}
          </Rows>
        </Part>
      ))}
    </Section>
  );
}
