/** Now, as ISO 8601 in UTC with microseconds; never the same twice in one process, so that "latest" is well defined. */
export function nowIso(): string {
  lastMicros = Math.max(lastMicros + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000))
  const millis = Math.floor(lastMicros / 1000)
  const micros = String(lastMicros % 1000).padStart(3, '0')
  return new Date(millis).toISOString().replace('Z', `${micros}Z`)
}

let lastMicros = 0
