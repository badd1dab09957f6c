/** Random bytes as base64url. `crypto.randomUUID` does not exist on plain http. */
export function randomText(bytes = 18): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  const text = btoa(String.fromCharCode(...random))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
