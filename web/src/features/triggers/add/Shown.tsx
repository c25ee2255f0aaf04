import { CopyButton } from "@/components/ui";

/** A text to copy, such as an address or a secret that is shown once. */
export function Shown({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 break-all font-mono text-sm">{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
