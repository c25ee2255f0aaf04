export { PublishPage } from "./PublishPage";
