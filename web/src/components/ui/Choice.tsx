import { Check, ChevronDown, ChevronUp } from "lucide-react";
import { Checkbox as RadixCheckbox, Select as RadixSelect, Switch as RadixSwitch, ToggleGroup } from "radix-ui";
import type { ReactNode } from "react";
import { nonce } from "@/lib/nonce";
import { cx } from "./cx";

interface Option<T extends string = string> {
  value: T;
  label: ReactNode;
  icon?: ReactNode;
  disabled?: boolean;
}

interface SelectProps<T extends string> {
  value: T | undefined;
  options: readonly Option<T>[];
  onChange: (value: T) => void;
  id?: string;
  placeholder?: string;
  disabled?: boolean;
  className?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

export function Select<T extends string>({
  value,
  options,
  onChange,
  placeholder,
  className,
  disabled,
  ...rest
}: SelectProps<T>) {
  return (
    <RadixSelect.Root value={value ?? ""} onValueChange={(next) => onChange(next as T)} disabled={disabled ?? false}>
      <RadixSelect.Trigger
        {...rest}
        className={cx(
          "fills inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-left text-base hover:border-faint disabled:opacity-60 aria-invalid:border-bad data-[placeholder]:text-faint",
          className,
        )}
      >
        <span className="min-w-0 flex-1 truncate">
          <RadixSelect.Value placeholder={placeholder} />
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-faint" />
      </RadixSelect.Trigger>
      <RadixSelect.Portal>
        <RadixSelect.Content
          position="popper"
          sideOffset={4}
          className="z-50 max-h-80 min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-raised shadow-float data-[state=open]:animate-rise"
        >
          <RadixSelect.ScrollUpButton className="flex justify-center p-1 text-faint">
            <ChevronUp className="size-4" />
          </RadixSelect.ScrollUpButton>
          <RadixSelect.Viewport nonce={nonce} className="p-1">
            {options.map((option) => (
              <RadixSelect.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled ?? false}
                className="flex cursor-default select-none items-center gap-2 rounded-md py-1.5 pr-2 pl-7 text-base outline-none data-[disabled]:opacity-40 data-[highlighted]:bg-hover"
              >
                <RadixSelect.ItemIndicator className="absolute left-2.5">
                  <Check className="size-4 text-accent" />
                </RadixSelect.ItemIndicator>
                {option.icon}
                <RadixSelect.ItemText>{option.label}</RadixSelect.ItemText>
              </RadixSelect.Item>
            ))}
          </RadixSelect.Viewport>
        </RadixSelect.Content>
      </RadixSelect.Portal>
    </RadixSelect.Root>
  );
}

interface ToggleProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  id?: string;
  disabled?: boolean;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

export function Switch({ checked, onChange, ...rest }: ToggleProps) {
  return (
    <RadixSwitch.Root
      {...rest}
      checked={checked}
      onCheckedChange={onChange}
      className="relative h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken transition-colors disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
    >
      <RadixSwitch.Thumb className="block size-4 translate-x-px rounded-full bg-muted transition-transform duration-100 data-[state=checked]:translate-x-4.25 data-[state=checked]:bg-on-accent" />
    </RadixSwitch.Root>
  );
}

export function Checkbox({ checked, onChange, ...rest }: ToggleProps) {
  return (
    <RadixCheckbox.Root
      {...rest}
      checked={checked}
      onCheckedChange={(next) => onChange(next === true)}
      className="inline-flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface data-[state=checked]:border-accent data-[state=checked]:bg-accent"
    >
      <RadixCheckbox.Indicator>
        <Check className="size-3 text-on-accent" strokeWidth={3} />
      </RadixCheckbox.Indicator>
    </RadixCheckbox.Root>
  );
}

interface SegmentsProps<T extends string> {
  value: T;
  options: readonly Option<T>[];
  onChange: (value: T) => void;
  "aria-label": string;
  size?: "sm" | "md";
}

/** A few choices side by side, one of them on. */
export function Segments<T extends string>({ value, options, onChange, size = "md", ...rest }: SegmentsProps<T>) {
  return (
    <ToggleGroup.Root
      {...rest}
      type="single"
      value={value}
      onValueChange={(next) => next && onChange(next as T)}
      className="inline-flex rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          disabled={option.disabled ?? false}
          className={cx(
            "inline-flex items-center gap-1.5 rounded-sm px-2.5 text-muted transition-colors hover:text-ink data-[state=on]:bg-raised data-[state=on]:text-ink data-[state=on]:shadow-low [&_svg]:size-3.5",
            size === "sm" ? "h-6 text-xs" : "h-7 text-sm",
          )}
        >
          {option.icon}
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
