export { StepCards } from "./StepCards";
