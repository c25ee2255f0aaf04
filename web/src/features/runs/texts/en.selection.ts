export default {
  select_run: "Select the run of {{when}}",
  compare_selected: "Compare",
  cancel_selected: "Cancel runs",
  bulk_cancel_one: "{{count}} run cancelled",
  bulk_cancel_other: "{{count}} runs cancelled",
  bulk_pause_one: "{{count}} run paused",
  bulk_pause_other: "{{count}} runs paused",
  bulk_continue_one: "{{count}} run continued",
  bulk_continue_other: "{{count}} runs continued",
  bulk_refused_one: "{{count}} run was not changed",
  bulk_refused_other: "{{count}} runs were not changed",
  bulk_failed: "The runs were not changed",
};
