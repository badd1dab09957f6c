import { SignerError } from '../../client/signer.ts'
import { errorText } from './errors.ts'
import { createWords } from './words.ts'

const signerWords = createWords({
  'no-extension': [
    'Este navegador no tiene una extensión de Nostr. Instalá una o elegí otra forma.',
    'This browser has no Nostr extension. Install one, or choose another way.',
  ],
  declined: ['No se firmó. Probá de nuevo y aceptá.', 'Nothing was signed. Try again and accept.'],
  timeout: [
    'Esperamos tres minutos y nadie respondió. Fijate si el firmador está abierto y probá de nuevo.',
    'We waited three minutes and nobody answered. Check that the signer is open and try again.',
  ],
  'bunker-invalid': [
    'Eso no es una dirección bunker:// completa. Copiala de nuevo.',
    'That is not a complete bunker:// address. Copy it again.',
  ],
  'no-relay': [
    'No pudimos hablar con el punto de encuentro, o se cortó. Probá de nuevo o elegí otro abajo.',
    'We could not reach the meeting point, or were cut off. Try again, or choose another below.',
  ],
  'pin-wrong': ['Ese PIN no es. Probá de nuevo.', 'That is not the PIN. Try again.'],
  'pin-wrong-wait': [
    'Ese PIN no es. Probá de nuevo en {wait}.',
    'That is not the PIN. Try again in {wait}.',
  ],
  'pin-wait': [
    'Hubo varios PIN equivocados. Esperá {wait} y probá de nuevo.',
    'There were several wrong PINs. Wait {wait} and try again.',
  ],
  'wait.seconds': ['{n} segundo|{n} segundos', '{n} second|{n} seconds'],
  'wait.minutes': ['{n} minuto|{n} minutos', '{n} minute|{n} minutes'],
  'pin-not-stored': [
    'El navegador no dejó guardar el PIN nuevo: sigue valiendo el de antes. Hacé lugar en el equipo y probá de nuevo.',
    'The browser did not let us save the new PIN: the old one still works. Free up some space on the device and try again.',
  ],
  'pin-short': ['El PIN lleva 6 números o más.', 'A PIN has at least 6 digits.'],
  'key-invalid': [
    'Ahí no hay una clave. Pegá la copia como la guardaste, o abrí su archivo.',
    'There is no key in that. Paste the backup as you saved it, or open its file.',
  ],
  'key-several': [
    'Ahí hay más de una clave, y no sabemos cuál es la tuya. Pegá una sola.',
    'That holds more than one key, and we cannot tell which is yours. Paste just one.',
  ],
  'key-cut': [
    'A esa clave le falta una parte, o tiene alguna letra cambiada. Copiala entera.',
    'Part of that key is missing, or a letter is wrong. Copy the whole of it.',
  ],
  'key-public': [
    'Esa es la clave pública: sirve para que te reconozcan, no para entrar. Buscá la copia que guardaste.',
    'That is the public key: others know you by it, but it cannot sign you in. Look for the backup that you saved.',
  ],
  'key-unsure': [
    'Ahí hay algo que puede ser una clave, pero no sabemos si es la secreta o la pública. Si es la secreta, pegala sola, sin nada más.',
    'That holds what may be a key, but we cannot tell whether it is the secret or the public one. If it is the secret one, paste it alone, with nothing else.',
  ],
  'copy-wrong': [
    'Esa copia no se abre así. La que guardaste con tu PIN se abre con el PIN de ese día; la segunda copia, con sus palabras o tu contraseña.',
    'That does not open this backup. The one you saved with your PIN opens with the PIN of that day; the second copy opens with its words or your password.',
  ],
  'key-changed': [
    'La clave de este equipo cambió o se borró mientras tanto, quizás en otra pestaña. Acá no se cambió nada: recargá la página.',
    'The key on this device was changed or deleted in the meantime, perhaps in another tab. Nothing was changed here: reload the page.',
  ],
  'key-kept': [
    'En este equipo ya hay otra clave y no la reemplazamos. Recargá la página para usarla, u olvidala antes, con su copia guardada.',
    'This device already has another key, and we do not replace it. Reload the page to use it, or save its backup and then forget it.',
  ],
  'key-unreadable': [
    'En este equipo hay una clave guardada que no podemos leer: quizás la dañó el navegador. No la reemplazamos, por si es la única. Si tenés su copia, olvidala acá y entrá con la copia.',
    'This device has a stored key that we cannot read: the browser may have damaged it. We do not replace it, in case it is the only one. If you have its backup, forget it here and sign in with the backup.',
  ],
  cancelled: ['Lo cancelaste.', 'You cancelled it.'],
  'other-key': [
    'Esa es otra clave. Firmá con la misma con la que entraste, o salí y volvé a entrar.',
    'That is a different key. Sign with the one you signed in with, or sign out and in again.',
  ],
})

/** The sentence about any thrown value, failures of signers included. */
export function failureText(cause: unknown): string {
  if (!(cause instanceof SignerError)) return errorText(cause)
  const { code, waitSeconds } = cause
  const waits = code === 'pin-wrong' && waitSeconds > 0
  return signerWords(waits ? 'pin-wrong-wait' : code, { wait: waitText(waitSeconds) })
}

/** A wait as people count it; a part of a minute counts as one, so that nobody comes too early. */
function waitText(seconds: number): string {
  const long = seconds > 90
  return long
    ? signerWords('wait.minutes', { n: Math.ceil(seconds / 60) })
    : signerWords('wait.seconds', { n: seconds })
}
