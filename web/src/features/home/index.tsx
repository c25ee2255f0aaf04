export { HomePage } from "./HomePage";
export { TemplatesPage } from "./templates/TemplatesPage";
