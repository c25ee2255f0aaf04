/** Short names of the API's own types; the types themselves are generated (`make web-api`). */
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Flow = Schemas["Flow"];
export type FlowNode = Schemas["Node"];
export type FlowEdge = Schemas["Edge"];
export type FlowOut = Schemas["FlowOut"];
export type FlowSettings = Schemas["FlowSettings"];
export type FormField = Schemas["FormField"];
export type StepPolicy = Schemas["StepPolicy"];
export type Template = Schemas["Template"];
export type FieldTemplate = Schemas["FieldTemplate"];
export type OutputTemplate = Schemas["OutputTemplate"];
export type PortType = Schemas["PortType"];
export type FieldKind = Schemas["FieldKind"];
export type RunOut = Schemas["RunOut"];
export type RunSummary = Schemas["RunSummary"];
export type StepOut = Schemas["StepOut"];
export type StepSummary = Schemas["StepSummary"];
export type Me = Schemas["Me"];
export type Variable = Schemas["VariableOut"];
export type JsonValue = Schemas["JsonValue"];
export type RunStart = Schemas["RunStart"];
export type RerunPlanOut = Schemas["RerunPlanOut"];
export type RerunPlanStart = Schemas["RerunPlanStart"];
export type DeliveryOut = Schemas["DeliveryOut"];
export type AttemptOut = Schemas["AttemptOut"];
