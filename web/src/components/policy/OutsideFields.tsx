import { useState } from "react";
import { Callout, Field, Segments, Textarea } from "@/components/ui";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

/** What content from outside may decide at a step: nothing that leaves, or the tools and hosts of a list. */
export function OutsideFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const chosen = policy.outside_content ?? "refuse";
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("outside")} help={t("outside_about")} error={issue("outside_content")}>
        {() => (
          <span>
            <Segments
              aria-label={t("outside")}
              size="sm"
              value={chosen}
              options={[
                { value: "refuse", label: t("outside_refuse") },
                { value: "allow", label: t("outside_allow") },
              ]}
              onChange={(outside_content) => set({ outside_content })}
            />
          </span>
        )}
      </Field>
      {chosen === "allow" ? (
        <Callout tone="warn">{t("outside_warning")}</Callout>
      ) : (
        <OutsideList list={policy.outside_allowlist ?? []} onChange={(list) => set({ outside_allowlist: list })} />
      )}
    </div>
  );
}

function OutsideList({ list, onChange }: { list: string[]; onChange: (list: string[]) => void }) {
  const t = usePolicyTexts();
  const [text, setText] = useState(() => list.join("\n"));
  const shown = same(entries(text), list) ? text : list.join("\n");
  return (
    <Field label={t("outside_list")} help={t("outside_list_about")}>
      {(control) => (
        <Textarea
          {...control}
          className="font-mono"
          spellCheck={false}
          placeholder="api.example.org"
          value={shown}
          onChange={(event) => {
            setText(event.target.value);
            onChange(entries(event.target.value));
          }}
        />
      )}
    </Field>
  );
}

/** The names of a list, one a line. */
function entries(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function same(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
