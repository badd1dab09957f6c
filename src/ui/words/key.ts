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
      '“{word}” is not one of the possible words. Check how you wrote it down.',
    ],
    'key.new-pin': ['Elegí un PIN para este equipo', 'Choose a PIN for this device'],
    'key.qr.none': [
      'Ese QR no es el de tu copia. Es el que aparece en «La copia como texto y como QR».',
      'That is not the QR code of your backup. It is the one under “The backup as text and as a QR code”.',
    ],
    'pin.forgotten': ['Me olvidé el PIN', 'I forgot the PIN'],
    'forgotten.why': [
      'Nadie puede recuperar tu PIN, tampoco nosotros: no está guardado en ningún lado. Esto podés hacer:',
      'Nobody can recover your PIN, not even us: it is not stored anywhere. Here is what you can do:',
    ],
    'forgotten.second': [
      'Si hiciste la segunda copia, entrá con ella: se abre con sus seis palabras o tu contraseña. Después elegís un PIN nuevo y todo sigue igual.',
      'If you made the second copy, sign in with it: its six words or your password open it. You then choose a new PIN, and everything carries on as before.',
    ],
    'forgotten.earlier': [
      'Si guardaste una copia con otro PIN que sí te acordás, también sirve.',
      'A backup that you saved with another PIN, one that you do remember, works as well.',
    ],
    'forgotten.none': [
      'Sin ninguna de las dos, esta clave ya no se puede abrir. Podés olvidarla en este equipo y empezar de nuevo con otra; los cupones que ya entregaste siguen valiendo en tus cajas.',
      'With neither, this key can no longer be opened. You can forget it on this device and start again with another; coupons already handed over are still valid at your tills.',
    ],
    'forgotten.do': ['Entrar con una copia', 'Sign in with a backup'],
    'second.title': ['Segunda copia', 'Second copy'],
    'second.why': [
      'Si te olvidás el PIN, sólo una segunda copia te devuelve el negocio. No usa el PIN: se abre con seis palabras que te damos, o con una contraseña tuya.',
      'If you forget the PIN, only a second copy gives you back your shop. It does not use the PIN: six words that we give you open it, or a password of your own.',
    ],
    'second.make': ['Hacer la segunda copia', 'Make the second copy'],
    'second.later': ['No me lo recuerdes más', 'Do not remind me again'],
    'second.again': ['Hacer otra', 'Make another'],
    'second.has': ['Ya la hiciste en este equipo', 'You have made it on this device'],
    'second.how': [
      'Son dos cosas que guardás en lugares distintos: un archivo, y lo que lo abre. Una sin la otra no sirve.',
      'It is two things to keep in different places: a file, and what opens it. One is useless without the other.',
    ],
    'second.way': ['¿Con qué la querés abrir?', 'What should open it?'],
    'second.way.words': [
      'Seis palabras que te damos (lo más seguro)',
      'Six words that we give you (safest)',
    ],
    'second.way.password': ['Una contraseña mía', 'A password of my own'],
    'second.password': ['Tu contraseña', 'Your password'],
    'second.password.hint': [
      'Doce letras o más, con números o signos. Lo mejor es una frase que sólo vos sabés.',
      'Twelve letters or more, with digits or signs. Best is a sentence that only you know.',
    ],
    'second.password.short': [
      'Es muy corta: quien encuentre el archivo la adivina. Usá doce letras o más.',
      'It is too short: whoever finds the file can guess it. Use twelve letters or more.',
    ],
    'second.password.simple': [
      'Es muy fácil de adivinar: no uses sólo números ni repitas lo mismo.',
      'It is too easy to guess: do not use only digits, or one character over and over.',
    ],
    'second.words.keep': [
      'Anotá estas seis palabras en un papel, en este orden. Se muestran sólo esta vez.',
      'Write these six words on paper, in this order. They are shown only this once.',
    ],
    'second.password.keep': [
      'La copia se abre con tu contraseña. Anotala en un papel: nadie la puede recuperar.',
      'Your password opens the copy. Write it on paper: nobody can recover it.',
    ],
    'second.save': ['Guardar el archivo', 'Save the file'],
    'second.unsaved': [
      'Todavía no guardaste el archivo. Si cerrás ahora, esta copia se pierde.',
      'You have not saved the file yet. If you close now, this copy is lost.',
    ],
    'second.done': ['Listo', 'Done'],
    'second.file.title': ['Segunda copia de tu clave', 'Second copy of your key'],
    'second.file.what': [
      'Qué es: la clave con la que entrás al panel de Cuponera y manejás tus cupones, por si te olvidás el PIN.',
      'What it is: the key with which you sign in to the Cuponera panel and manage your coupons, in case you forget the PIN.',
    ],
    'second.file.how.words': [
      'Cómo: tocá «Ya tengo una clave o una copia», o «Me olvidé el PIN»; abrí este archivo o pegá todo este texto, y escribí las seis palabras que anotaste, en su orden.',
      'How: press “I already have a key or a backup”, or “I forgot the PIN”; open this file or paste this whole text, and type the six words that you wrote down, in their order.',
    ],
    'second.file.how.password': [
      'Cómo: tocá «Ya tengo una clave o una copia», o «Me olvidé el PIN»; abrí este archivo o pegá todo este texto, y escribí la contraseña que elegiste.',
      'How: press “I already have a key or a backup”, or “I forgot the PIN”; open this file or paste this whole text, and type the password that you chose.',
    ],
    'second.file.care': [
      'Cuidala: guardá este archivo en un lugar y lo que lo abre en otro. Nunca los dos juntos.',
      'Take care of it: keep this file in one place and what opens it in another. Never both together.',
    ],
  },
  panelWords,
)
