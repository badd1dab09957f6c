/** Copy a text, on plain http as well; false where the browser does not allow it. */
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
  // Inside an open dialog, since a modal dialog lets nothing outside it be selected.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(area)
  area.select()
  // Deprecated, and the only way on plain http.
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}

/** Whether a page may ask for the copied text: not on plain http, and not in every browser. */
export function canPaste(): boolean {
  return window.isSecureContext && typeof navigator.clipboard?.readText === 'function'
}

/** The copied text, empty without one; null where the person or the browser does not allow it. */
export async function copiedText(): Promise<string | null> {
  try {
    return await navigator.clipboard.readText()
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    return null
  }
}

/** Save bytes as a download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  const address = URL.createObjectURL(content)
  link.href = address
  link.download = name
  link.click()
  // By then the download has read the bytes.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
