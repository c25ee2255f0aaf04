import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { assistantKeys, createAssistant, type SharedAssistant } from "@/api/queries/assistants";
import { FormDialog } from "@/components/FormDialog";
import { ModelPicker } from "@/components/models/ModelPicker";
import { Field, Input, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

interface AssistantDialogProps {
  spaceId: string;
  assistant?: SharedAssistant;
  onClose: () => void;
}

/** Makes a shared assistant, or changes one. */
export function AssistantDialog({ spaceId, assistant, onClose }: AssistantDialogProps) {
  const t = useSettingsTexts();
  const [name, setName] = useState(assistant?.name ?? "");
  const [description, setDescription] = useState(assistant?.description ?? "");
  const [instructions, setInstructions] = useState(assistant?.instructions ?? "");
  const [model, setModel] = useState(assistant?.model ?? "");
  const save = useChange<void, unknown>({
    change: () => {
      const body = { name: name.trim(), description, instructions, model };
      return assistant
        ? unwrap(
            api.PATCH("/api/v1/assistants/{assistant_id}", { params: { path: { assistant_id: assistant.id } }, body }),
          )
        : createAssistant({ ...body, space_id: spaceId, temperature: null });
    },
    touches: [assistantKeys.all],
  });
  const submit = () => save.mutate(undefined, { onSuccess: onClose });
  return (
    <FormDialog
      title={assistant ? t("edit_what", { what: assistant.name }) : t("add_assistant")}
      action={t("save")}
      ready={name.trim() !== ""}
      busy={save.isPending}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("name")} required>
        {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label={t("good_at")}>
        {(control) => (
          <Input {...control} value={description} onChange={(event) => setDescription(event.target.value)} />
        )}
      </Field>
      <Field label={t("instructions")} help={t("instructions_help")}>
        {(control) => (
          <Textarea
            {...control}
            rows={8}
            value={instructions}
            onChange={(event) => setInstructions(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("model")} help={t("assistant_model_help")}>
        {(control) => (
          <ModelPicker
            {...control}
            value={model}
            onChange={(value) => setModel(typeof value === "string" ? value : "")}
          />
        )}
      </Field>
    </FormDialog>
  );
}
