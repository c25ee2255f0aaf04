export default {
  json: "Flow (JSON)",
  spec: "Flow (text)",
  svg: "Diagram (SVG)",
  png: "Diagram (PNG)",
  report: "Audit report (PDF)",
  evidence: "Evidence of the run (JSON)",
  download: "Download",
  failed: "The file could not be made",
};
