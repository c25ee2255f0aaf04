import { useMemo } from "react";
import { useDraft } from "@/lib/draft";
import { type Reference, type ReferenceFault, referenceFault, references } from "@/lib/wiring";
import { useFieldTexts } from "./texts";

interface Fault extends ReferenceFault {
  reference: string;
  start: number;
}

/** What is wrong with the references of a text where it stands; computed only for texts that have any. */
export function useReferenceFaults(text: string, nodeId: string | undefined): Fault[] {
  const told = useDraft((state) => {
    if (!nodeId || !text.includes("{{")) return "";
    const faults = references(text).flatMap(({ path, start }): Fault[] => {
      const fault = referenceFault(state.document, state.templates, nodeId, path);
      return fault ? [{ ...fault, reference: `{{${path.join(".")}}}`, start }] : [];
    });
    return faults.length > 0 ? JSON.stringify(faults) : "";
  });
  return useMemo(() => (told ? (JSON.parse(told) as Fault[]) : []), [told]);
}

/** The text behind a text box, drawn to mark its references; what is written is drawn by the box itself. */
export function MarkedText({ text, faults }: { text: string; faults: readonly Fault[] }) {
  const wrong = new Set(faults.map((one) => one.start));
  const parts: { text: string; reference?: Reference }[] = [];
  let at = 0;
  for (const reference of references(text)) {
    parts.push({ text: text.slice(at, reference.start) });
    parts.push({ text: text.slice(reference.start, reference.end), reference });
    at = reference.end;
  }
  return (
    <>
      {parts.map(({ text: part, reference }, index) =>
        reference ? (
          <mark
            key={index}
            data-reference={wrong.has(reference.start) ? "unknown" : "known"}
            className="rounded-sm bg-accent-soft text-transparent data-[reference=unknown]:bg-warn-soft data-[reference=unknown]:underline data-[reference=unknown]:decoration-warn data-[reference=unknown]:decoration-wavy"
          >
            {part}
          </mark>
        ) : (
          <span key={index}>{part}</span>
        ),
      )}
      {`${text.slice(at)}\n`}
    </>
  );
}

/** The faults in words, below the box. */
export function FaultList({ faults }: { faults: readonly Fault[] }) {
  const t = useFieldTexts();
  if (faults.length === 0) return null;
  return (
    <ul role="status" className="flex flex-col gap-0.5 text-warn text-xs">
      {faults.slice(0, 4).map((one) => (
        <li key={one.start}>{t(`fault_${one.kind}`, { ref: one.reference, name: one.name })}</li>
      ))}
    </ul>
  );
}
