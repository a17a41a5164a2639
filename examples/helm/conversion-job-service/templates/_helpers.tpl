{{/* Labels by which objects find the pods of a component. */}}
{{- define "selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of every object. */}}
{{- define "labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "secret" -}}
{{ .Values.secrets.existing | default .Release.Name }}
{{- end -}}

{{/* A variable of the environment from a key of the secret. */}}
{{- define "fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "secret" .root }}
      key: {{ .key }}
{{- end -}}

{{/* A probe: `path` and `port`, and its times from the values. */}}
{{- define "probe" -}}
httpGet:
  path: /actuator/health/{{ .path }}
  port: {{ .port }}
{{ toYaml .times }}
{{- end -}}

{{/* The pod of a component: `component`, `port` (its name), `values` and `env`. */}}
{{- define "pod" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "selector" . | nindent 4 }}
  annotations:
    checksum/settings: {{ include (print $root.Template.BasePath "/config.yaml") $root | sha256sum }}
    {{- if not $root.Values.secrets.existing }}
    checksum/secret: {{ include (print $root.Template.BasePath "/secret.yaml") $root | sha256sum }}
    {{- end }}
spec:
  serviceAccountName: {{ $root.Release.Name }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "selector" . | nindent 10 }}
  containers:
    - name: {{ .component }}
      image: {{ $root.Values.image.repository }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}
      {{- with $root.Values.image.pullPolicy }}
      imagePullPolicy: {{ . }}
      {{- end }}
      {{- with .args }}
      args: {{ toJson . }}
      {{- end }}
      ports:
        - name: {{ .port }}
          containerPort: 8080
      envFrom:
        - configMapRef:
            name: {{ $root.Release.Name }}
      env:
        {{- include "fromSecret" (dict "root" $root "name" "SVC_METADB_URL" "key" "metadb-url") | nindent 8 }}
        {{- include "fromSecret" (dict "root" $root "name" "SVC_SECRET_KEY" "key" "secret-key") | nindent 8 }}
        {{- range $name, $value := .env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
        {{- if $root.Values.objectStore.location }}
        {{- include "fromSecret" (dict "root" $root "name" "SVC_FILES_S3_ACCESS_KEY" "key" "s3-access-key") | nindent 8 }}
        {{- include "fromSecret" (dict "root" $root "name" "SVC_FILES_S3_SECRET_KEY" "key" "s3-secret-key") | nindent 8 }}
        {{- end }}
      startupProbe:
        {{- include "probe" (dict "path" "liveness" "port" .port "times" $root.Values.probes.startup) | nindent 8 }}
      livenessProbe:
        {{- include "probe" (dict "path" "liveness" "port" .port "times" $root.Values.probes.liveness) | nindent 8 }}
      readinessProbe:
        {{- include "probe" (dict "path" "readiness" "port" .port "times" $root.Values.probes.readiness) | nindent 8 }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: home
          mountPath: /var/lib/conversion-job-service
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: home
      {{- if $root.Values.objectStore.location }}
      emptyDir: {}
      {{- else }}
      persistentVolumeClaim:
        claimName: {{ $root.Values.volume.existingClaim | default $root.Release.Name }}
      {{- end }}
    - name: tmp
      emptyDir: {}
{{- end -}}
