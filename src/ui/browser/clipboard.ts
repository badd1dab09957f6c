/** Copy a text; false where the browser does not let us. Works on plain http, too. */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext && navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch (cause) {
      if (!(cause instanceof DOMException)) throw cause
      return false
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  // Inside an open dialog, as nothing outside it can be selected.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(area)
  area.select()
  // The only way there is without https.
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}

/** Save bytes as a file of the person's. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  const address = URL.createObjectURL(content)
  link.href = address
  link.download = name
  link.click()
  // The download holds the bytes itself by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
