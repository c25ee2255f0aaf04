import { useId } from "react";
import { Switch } from "./Choice";

interface ToggleProps {
  label: string;
  help?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

/** Something that is on or off, with what that means. */
export function Toggle({ label, help, checked, disabled, onChange }: ToggleProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <Switch
        id={id}
        checked={checked}
        onChange={onChange}
        {...(disabled ? { disabled } : {})}
        {...(help ? { "aria-describedby": `${id}-about` } : {})}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {help && (
          <p id={`${id}-about`} className="text-xs text-muted">
            {help}
          </p>
        )}
      </div>
    </div>
  );
}
