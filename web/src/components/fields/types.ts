import type { FieldTemplate, JsonValue } from "@/api/types";

/** What ties a control to its label, help and error. */
export interface ControlIds {
  id?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

export interface FieldControlProps extends ControlIds {
  field: FieldTemplate;
  value: JsonValue | undefined;
  /** `undefined` takes the value away: the default holds. */
  onChange: (value: JsonValue | undefined) => void;
  /** The node whose field it is; its texts may then refer to what runs before it. */
  nodeId?: string;
}

/** What every kind of control gets: the field's label as its name where nothing else labels it. */
export interface ControlProps extends FieldControlProps {
  label: string;
}
