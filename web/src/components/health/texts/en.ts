export default {
  health: "Health",
  works: "works",
  failed: "does not answer",
  queue: "Waiting for a worker: {{count}}",
  workers: "Workers: {{count}}",
  all_works: "Every part of the server works.",
  something_fails: "A part of the server does not answer. The operator sees which with headgate doctor.",
};
