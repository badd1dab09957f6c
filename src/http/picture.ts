/**
 * Headers of a picture that somebody else made. `sandbox` and `nosniff`: one that is opened in its own tab must
 * never run as a page of this origin.
 */
export function pictureHeaders(type: string, cache: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Cache-Control': cache,
    'Access-Control-Allow-Origin': '*',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  }
}
