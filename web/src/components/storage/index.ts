export { BrowseStorage } from "./BrowseStorage";
