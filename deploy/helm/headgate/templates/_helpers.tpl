{{- define "headgate.labels" -}}
app.kubernetes.io/name: headgate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "headgate.claim" -}}
{{ .Values.data.existingClaim | default (printf "%s-data" .Release.Name) }}
{{- end }}

{{/* Pod template of one role. Takes root, role, args, probes and grace. */}}
{{- define "headgate.pod" -}}
metadata:
  labels:
    app.kubernetes.io/name: headgate
    app.kubernetes.io/instance: {{ .root.Release.Name }}
    app.kubernetes.io/component: {{ .role }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false # they would set HEADGATE_* variables
  terminationGracePeriodSeconds: {{ .grace }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: {{ .role }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        - {name: HEADGATE_SERVER__PUBLIC_URL, value: {{ .root.Values.publicUrl | quote }}}
        - {name: HEADGATE_SERVER__TRUSTED_PROXIES, value: {{ .root.Values.trustedProxies | toJson | quote }}}
        {{- if .root.Values.team.enabled }}
        - {name: HEADGATE_ENGINE__BACKEND, value: celery}
        {{- end }}
        {{- range $name, $value := .root.Values.settings }}
        - {name: {{ $name }}, value: {{ $value | quote }}}
        {{- end }}
      {{- with .root.Values.existingSecret }}
      envFrom:
        - secretRef: {name: {{ . }}}
      {{- end }}
      {{- with .port }}
      ports:
        - {name: http, containerPort: {{ . }}}
      {{- end }}
      {{- with .probes }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      resources: {{ toJson .root.Values.resources }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: data
      persistentVolumeClaim: {claimName: {{ include "headgate.claim" .root }}}
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
{{- end }}
