{{/* The pod of a server: `root` is the chart, `role` what it does, `values` are those of the role. */}}
{{- define "heddle.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
metadata:
  labels:
    {{- include "heddle.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # Pods are replaced when their settings change. What the Secret holds is not known here: `kubectl rollout restart` after a change.
    checksum/settings: {{ include (print $root.Template.BasePath "/configmap.yaml") $root | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "heddle.serviceAccount" $root }}
  automountServiceAccountToken: false
  # Otherwise a Service called heddle sets HEDDLE_PORT to an address, which is no port.
  enableServiceLinks: false
  # HEDDLE_DRAIN_SECONDS, then 10 s in which a server ends what it does, and some for the signal to arrive.
  terminationGracePeriodSeconds: {{ add $values.drainSeconds 30 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .values.topologySpread }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "heddle.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  {{- end }}
  containers:
    - name: heddle
      image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default $root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      ports:
        - { name: http, containerPort: 6060 }
      envFrom:
        - configMapRef: { name: {{ include "heddle.name" $root }} }
        - secretRef: { name: {{ $values.existingSecret }} }
      env:
        {{- range $name, $value := $values.env }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
        - { name: HEDDLE_ROLE, value: {{ .role }} }
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        - name: POD_NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        - name: HEDDLE_HOSTS
          value: {{ include "heddle.hosts" $root | quote }}
        {{- if $values.telemetry.endpoint }}
        - name: OTEL_RESOURCE_ATTRIBUTES
          value: {{ printf "k8s.namespace.name=%s,k8s.pod.name=$(POD_NAME),heddle.role=%s" $root.Release.Namespace .role | quote }}
        {{- end }}
      # It listens once its stores are open and migrated, which may take minutes after an upgrade.
      startupProbe:
        httpGet: &alive
          path: /version
          port: http
          httpHeaders: [{ name: Host, value: localhost }]
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 450
      # Whether the process answers at all. Not whether its stores do: a restart would not bring those back.
      livenessProbe:
        httpGet: *alive
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      # Whether its stores answer, and it does not stop: requests go to others meanwhile.
      readinessProbe:
        httpGet:
          path: /health
          port: http
          httpHeaders: [{ name: Host, value: localhost }]
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- with .values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: data
      emptyDir: { sizeLimit: {{ $values.data.sizeLimit }} }
    - name: tmp
      emptyDir: {}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
