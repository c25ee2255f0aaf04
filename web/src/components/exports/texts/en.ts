export default {
  json: "Flow (JSON)",
  spec: "Flow (text)",
  svg: "Diagram (SVG)",
  png: "Diagram (PNG)",
  report: "Audit report (PDF)",
  evidence: "Run evidence (JSON)",
  download: "Download",
  failed: "The file could not be created",
};
