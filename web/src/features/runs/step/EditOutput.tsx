import { useId, useState } from "react";
import { CodeEditor } from "@/components/code";
import { Button, Dialog } from "@/components/ui";
import { asWritten, editedOutputs, type Outputs, readWritten } from "../model/edited";
import { useRunTexts } from "../texts";

interface EditOutputProps {
  title: string;
  outputs: Outputs;
  /** Names of the outputs whose value is a text, which is not written as JSON. */
  texts: ReadonlySet<string>;
  onClose: () => void;
  onPin: (outputs: Outputs) => void;
}

/** Change what a step gave and pin it: test runs use the changed output instead of running the step. */
export function EditOutput({ title, outputs, texts, onClose, onPin }: EditOutputProps) {
  const t = useRunTexts();
  const [written, setWritten] = useState(() =>
    Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, asWritten(value, texts.has(name))])),
  );
  const edited = editedOutputs(written, texts);
  const pin = () => {
    if (edited) onPin(edited);
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      description={t("edit_output_about")}
      size="md"
      footer={
        <Button kind="primary" disabled={!edited} onClick={pin}>
          {t("pin_edited")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {Object.entries(written).map(([name, text]) => (
          <OneOutput
            key={name}
            name={name}
            isText={texts.has(name)}
            text={text}
            onChange={(next) => setWritten({ ...written, [name]: next })}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface OneOutputProps {
  name: string;
  isText: boolean;
  text: string;
  onChange: (text: string) => void;
}

function OneOutput({ name, isText, text, onChange }: OneOutputProps) {
  const t = useRunTexts();
  const problem = useId();
  const title = t("output_named", { name });
  const read = readWritten(text, isText);
  const fault = read.ok ? null : read.line;
  const message = fault === null ? "" : t("not_json", { line: fault });
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 font-medium text-sm">{title}</h3>
      <CodeEditor
        language={isText ? "text" : "json"}
        label={title}
        value={text}
        onChange={onChange}
        minLines={4}
        diagnostics={fault === null ? [] : [{ line: fault, message }]}
        {...(fault === null ? {} : { "aria-invalid": true as const, "aria-describedby": problem })}
      />
      {fault !== null && (
        <p id={problem} role="status" className="mt-1 text-warn text-xs">
          {message}
        </p>
      )}
    </section>
  );
}
