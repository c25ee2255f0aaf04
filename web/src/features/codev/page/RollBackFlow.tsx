import { useId } from "react";
import type { RollbackChoice, RollbackFlow } from "@/api/queries/codev";
import { DiffLines } from "../cards/DiffLines";
import { useCodevTexts } from "../texts";

interface RollBackFlowProps {
  flow: RollbackFlow;
  choice: RollbackChoice | undefined;
  /** Where others changed it: what the user answers. */
  onChoose?: (choice: RollbackChoice) => void;
}

/** What a rollback does to one flow, and what others made of it. */
export function RollBackFlow({ flow, choice, onChoose }: RollBackFlowProps) {
  const t = useCodevTexts();
  const { name } = flow;
  return (
    <section aria-label={name} className="flex flex-col gap-3">
      <h3 className="break-words font-medium">{name}</h3>
      {onChoose ? (
        <>
          <div className="flex flex-col gap-1.5">
            <h4 className="text-sm text-muted">{t(flow.deleted ? "theirs_deleted" : "theirs")}</h4>
            {flow.theirs.length > 0 && <DiffLines lines={flow.theirs} label={t("theirs")} />}
          </div>
          <fieldset className="flex flex-col gap-3">
            <legend className="sr-only">{t("roll_back_choose")}</legend>
            <Option
              chosen={choice === "keep_theirs"}
              onChoose={() => onChoose("keep_theirs")}
              title={t("keep_theirs")}
              about={t(`keeping_${flow.outcome_keeping}`, { name })}
              changes={flow.changes_keeping}
            />
            <Option
              chosen={choice === "take_mine"}
              onChoose={() => onChoose("take_mine")}
              title={t("take_mine")}
              about={t(`rolling_${flow.outcome}`, { name })}
              changes={flow.changes}
            />
          </fieldset>
        </>
      ) : (
        <>
          <p className="text-sm text-muted">{t(`rolling_${flow.outcome}`, { name })}</p>
          {flow.changes.length > 0 && <DiffLines lines={flow.changes} label={t("would_change")} />}
        </>
      )}
    </section>
  );
}

interface OptionProps {
  chosen: boolean;
  onChoose: () => void;
  title: string;
  about: string;
  changes: readonly string[];
}

function Option({ chosen, onChoose, title, about, changes }: OptionProps) {
  const t = useCodevTexts();
  const id = useId();
  return (
    <div className="rounded-md border border-line p-3 has-checked:border-accent">
      <label htmlFor={id} className="flex items-start gap-2.5">
        <input
          id={id}
          type="radio"
          name="rollback"
          className="mt-1 accent-accent"
          checked={chosen}
          onChange={onChoose}
        />
        <span className="min-w-0">
          <span className="block font-medium">{title}</span>
          <span className="block text-sm text-muted">{about}</span>
        </span>
      </label>
      {chosen && changes.length > 0 && (
        <div className="mt-3">
          <DiffLines lines={changes} label={t("would_change")} />
        </div>
      )}
    </div>
  );
}
