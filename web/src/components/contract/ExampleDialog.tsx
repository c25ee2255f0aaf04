import { useState } from "react";
import { CodeEditor } from "@/components/code";
import { Button, Dialog } from "@/components/ui";
import type { Schema } from "@/lib/wiring";
import { lineOfFault } from "./jsonLine";
import { schemaOfExample } from "./schemaTree";
import { useContractTexts } from "./texts";

interface ExampleDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onSchema: (schema: Schema) => void;
}

/** A schema from an example: nobody needs to know how schemas are written. */
export function ExampleDialog({ open, onOpenChange, onSchema }: ExampleDialogProps) {
  const t = useContractTexts();
  const [text, setText] = useState("");
  const line = text.trim() === "" ? null : lineOfFault(text);
  const use = () => {
    onSchema(schemaOfExample(JSON.parse(text)));
    onOpenChange(false);
    setText("");
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t("example_title")}
      description={t("example_about")}
      footer={
        <Button kind="primary" disabled={text.trim() === "" || line !== null} onClick={use}>
          {t("example_use")}
        </Button>
      }
    >
      <CodeEditor
        language="json"
        label={t("example")}
        value={text}
        onChange={setText}
        minLines={10}
        diagnostics={line === null ? [] : [{ line, message: t("broken", { line }) }]}
      />
      {line !== null && (
        <p role="status" className="mt-1 text-warn text-xs">
          {t("example_wrong", { line })}
        </p>
      )}
    </Dialog>
  );
}
