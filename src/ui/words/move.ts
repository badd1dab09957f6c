import { createWords } from './words.ts'

/** Sentences about moving the shop to another computer. */
export const moveWords = createWords({
  'out.title': ['Mudarse a otra computadora', 'Move to another computer'],
  'out.here': [
    'Esta computadora deja de canjear y de emitir: desde ahí, sólo la nueva.',
    'This computer stops redeeming and issuing: from then on, only the new one does.',
  ],
  'out.file': [
    'Te llevás un archivo con todo tu negocio: cupones, canjes, cajas, clientes y claves del servicio.',
    'You take one file with your whole shop in it: coupons, redemptions, tills, customers and the keys of the service.',
  ],
  'out.key': [
    'Tu propia clave no va en el archivo: se muda con su copia.',
    'Your own key is not in the file: it moves with its backup.',
  ],
  'out.backup': ['Ir a la copia de mi clave', 'Go to the backup of my key'],
  'out.start': ['Empezar la mudanza', 'Start the move'],
  'out.confirm': ['Escribí {word} para seguir', 'Type {word} to continue'],
  'out.confirm.word': ['MUDAR', 'MOVE'],
  'out.confirm.wrong': ['Escribí {word}, tal cual.', 'Type {word}, exactly.'],
  'out.next': ['Seguir', 'Continue'],
  'out.close': ['Ya las guardé: cerrar el negocio acá', 'I have saved them: close the shop here'],
  'words.title': ['Ocho palabras', 'Eight words'],
  'words.why': [
    'Abren el archivo en la computadora nueva: las vas a necesitar. Anotalas en este orden, o imprimilas, y no las guardes junto al archivo.',
    'They open the file on the new computer: you will need them. Write them down in this order, or print them, and do not keep them with the file.',
  ],
  'words.print': ['Imprimir', 'Print'],
  'words.paper': [
    'Palabras de la mudanza. Abren el archivo en la computadora nueva.',
    'Words for the move. They open the file on the new computer.',
  ],
  'moved.title': [
    'Este negocio se mudó a otra computadora',
    'This shop has moved to another computer',
  ],
  'moved.why': [
    'Acá ya no se canjea ni se emite nada. Usá la dirección nueva.',
    'Nothing is redeemed or issued here any more. Use the new address.',
  ],
  'moved.owner': [
    'Si el negocio es tuyo, entrá con tu clave: podés bajar el archivo de la mudanza, o abrir de nuevo acá si no la hiciste.',
    'If the shop is yours, sign in with your key: you can download the move file, or open again here if you did not move.',
  ],
  'moved.closing': [
    'Cerrando el negocio en esta computadora…',
    'Closing the shop on this computer…',
  ],
  'moved.retry': ['Probar de nuevo', 'Try again'],
  'moved.closed': [
    'En esta computadora el negocio está cerrado. Bajá el archivo y llevalo a la nueva.',
    'The shop is closed on this computer. Download the file and take it to the new one.',
  ],
  'moved.steps': [
    'En la computadora nueva abrí el panel por primera vez, elegí «Vengo de otra computadora», y dale el archivo y las palabras.',
    'On the new computer, open the panel for the first time, choose “I’m moving from another computer”, and give it the file and the words.',
  ],
  'moved.words.new': [
    'Son nuevas: abren el archivo que bajes ahora. Uno anterior se abre con las suyas.',
    'They are new: they open the file that you download now. An earlier one opens with its own.',
  ],
  'moved.download': ['Bajar el archivo', 'Download the file'],
  'moved.again': ['Bajarlo otra vez', 'Download it again'],
  'moved.downloaded': [
    'El archivo está en tus descargas. Guardalo como plata: quien lo abre tiene todo tu negocio.',
    'The file is in your downloads. Keep it like cash: anyone who opens it has your whole shop.',
  ],
  'back.title': ['La mudanza no se hizo', 'I did not move'],
  'back.why': [
    'Antes destruí todas las copias del archivo. Si tu negocio abre en las dos computadoras, un mismo cupón se puede canjear en cada una.',
    'First destroy every copy of the file. If your shop is open on both computers, the same coupon can be redeemed on each of them.',
  ],
  'back.do': ['Destruí el archivo: abrir acá', 'I destroyed the file: open here'],
  'in.title': ['Vengo de otra computadora', 'I’m moving from another computer'],
  'in.why': [
    'En la otra, en Ajustes, está «Mudarse a otra computadora»: te da un archivo y ocho palabras.',
    'On the other computer, “Move to another computer” in Settings gives you a file and eight words.',
  ],
  'in.file': ['Elegir el archivo', 'Choose the file'],
  'in.file.missing': ['Elegí el archivo de la mudanza.', 'Choose the move file.'],
  'in.words': ['Las ocho palabras', 'The eight words'],
  'in.words.hint': [
    'En el orden en que las anotaste. Los acentos no importan.',
    'In the order in which you wrote them down. Accents do not matter.',
  ],
  'in.words.wrong': ['Tienen que ser ocho palabras.', 'There must be eight words.'],
  'in.do': ['Traer mi negocio', 'Bring my shop'],
  'in.sending': ['Subiendo el archivo…', 'Uploading the file…'],
  'in.checking': [
    'Revisando el archivo, y arrancando con tu negocio. No cierres esta página.',
    'Checking the file, and starting with your shop. Do not close this page.',
  ],
})
