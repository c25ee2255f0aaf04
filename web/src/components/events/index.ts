export { EventWaitMark } from "./EventWaitMark";
export { SendEventDialog } from "./SendEventDialog";
export { WaitingForEvents } from "./WaitingForEvents";
