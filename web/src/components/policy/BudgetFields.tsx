import type { Budget } from "@/api/types";
import { NumberBox } from "./NumberBox";
import { usePolicyTexts } from "./texts";

const KINDS = [
  { kind: "usd", most: 1_000_000 },
  { kind: "tokens", most: 1_000_000_000_000 },
  { kind: "seconds", most: 315_360_000 },
] as const;

interface BudgetFieldsProps {
  label: string;
  help: string;
  /** Null: no budget. */
  budget: Budget | null;
  onChange: (budget: Budget | null) => void;
}

/** Limits of money, tokens and execution time; an empty field is unlimited. */
export function BudgetFields({ label, help, budget, onChange }: BudgetFieldsProps) {
  const t = usePolicyTexts();
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-sm">{label}</legend>
      <p className="mb-2 text-muted text-sm">{help}</p>
      <div className="grid gap-2 sm:grid-cols-3">
        {KINDS.map(({ kind, most }) => (
          <NumberBox
            key={kind}
            label={t(`budget_${kind}`)}
            placeholder={t("unlimited")}
            value={budget?.[kind] ?? null}
            least={kind === "tokens" ? 1 : 0.000001}
            most={most}
            whole={kind === "tokens"}
            onChange={(limit) => {
              const next = { ...budget, [kind]: limit };
              onChange(KINDS.some((one) => next[one.kind] != null) ? next : null);
            }}
          />
        ))}
      </div>
    </fieldset>
  );
}
