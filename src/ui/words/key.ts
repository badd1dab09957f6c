import { panelWords } from './panel.ts'
import { createWords } from './words.ts'

/** Sentences about a key that comes from a copy, and about the second copy. */
export const keyWords = createWords(
  {
    'key.password': ['Lo que abre esta copia', 'What opens this backup'],
    'key.password.hint': [
      'El PIN que tenías al guardarla. Si es la segunda copia, sus seis palabras o tu contraseña.',
      'The PIN you had when you saved it. For the second copy, its six words or your password.',
    ],
    'key.word.wrong': [
      '«{word}» no es una de las palabras posibles. Fijate cómo la anotaste.',
      '“{word}” is not one of the possible words. See how you wrote it down.',
    ],
    'key.new-pin': ['Elegí un PIN para este equipo', 'Choose a PIN for this device'],
    'key.qr.none': [
      'Ese QR no es el de tu copia. Es el que aparece en «La copia como texto y como QR».',
      'That is not the QR code of your backup. It is the one under “The backup as text and as a QR code”.',
    ],
    'pin.forgotten': ['Me olvidé el PIN', 'I forgot the PIN'],
    'forgotten.why': [
      'Nadie puede recuperar tu PIN, tampoco nosotros: no está guardado en ningún lado. Esto podés hacer:',
      'Nobody can recover your PIN, not even we: it is stored nowhere. This is what you can do:',
    ],
    'forgotten.second': [
      'Si hiciste la segunda copia, entrá con ella: se abre con sus seis palabras o tu contraseña. Después elegís un PIN nuevo y todo sigue igual.',
      'If you made the second copy, sign in with it: its six words or your password open it. You then choose a new PIN, and all goes on as before.',
    ],
    'forgotten.earlier': [
      'Si guardaste una copia con otro PIN que sí te acordás, también sirve.',
      'A backup that you saved with another PIN, which you do remember, works as well.',
    ],
    'forgotten.none': [
      'Sin ninguna de las dos, esta clave ya no se puede abrir. Podés olvidarla en este equipo y empezar de nuevo con otra; los cupones que ya entregaste siguen valiendo en tus cajas.',
      'With neither, this key cannot be opened any more. You can forget it on this device and start again with another; coupons already handed over are still valid at your tills.',
    ],
    'forgotten.do': ['Entrar con una copia', 'Sign in with a backup'],
  },
  panelWords,
)
