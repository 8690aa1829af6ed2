/** Of replies that come piece by piece. */
export const STREAM_HEADERS = {
  'cache-control': 'no-cache',
  // Proxies of the nginx family collect what they pass on unless a header forbids it.
  'x-accel-buffering': 'no',
}
