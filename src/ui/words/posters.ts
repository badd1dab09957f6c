import { panelWords } from './panel.ts'
import { createWords } from './words.ts'

/** Sentences of the panel about posters. */
export const postersWords = createWords(
  {
    lead: [
      'Un solo QR para el mostrador o la vidriera: quien lo escanea se lleva un cupón.',
      'One QR code for the counter or the window: whoever scans it takes a coupon.',
    ],
    honest: [
      'El tope por persona vale por navegador: quien abre otro navegador puede llevarse otro. Lo que de verdad te cuida es el tope por día y el total.',
      'The limit per person is a limit per browser: someone who opens another browser can take another coupon. What really protects you is the limit per day and the total.',
    ],
    new: ['Crear un afiche', 'Create a poster'],
    'new.title': ['Nuevo afiche', 'New poster'],
    'edit.title': ['Cambiar los topes', 'Change the limits'],
    'empty.title': ['Este cupón no tiene afiche', 'This coupon has no poster'],
    loading: ['Cargando…', 'Loading…'],
    name: ['Afiche', 'Poster'],
    taken: ['Se llevó {n}|Se llevaron {n}', '{n} taken'],
    'taken.of': ['Se llevó {n} de {all}|Se llevaron {n} de {all}', '{n} of {all} taken'],
    today: ['Hoy: {n}', 'Today: {n}'],
    'today.of': ['Hoy: {n} de {all}', 'Today: {n} of {all}'],
    person: ['{n} por persona', '{n} per person'],
    from: ['Desde {when}', 'From {when}'],
    until: ['Hasta {when}', 'Until {when}'],

    'state.open': ['Entregando', 'Giving coupons'],
    'state.paused': ['En pausa', 'On hold'],
    'state.not-started': ['Todavía no empezó', 'Not started yet'],
    'state.archived': ['Terminado: cupón archivado', 'Over: coupon archived'],
    'state.expired': ['Terminado: cupón vencido', 'Over: coupon expired'],
    'state.ended': ['Terminado: pasó su fecha', 'Over: past its date'],
    'state.exhausted': ['Se llevaron todos', 'All taken'],
    'state.today-exhausted': ['Por hoy, se llevaron todos', 'All taken for today'],

    'print.a4': ['Imprimir en A4', 'Print on A4'],
    'print.a5': ['Imprimir en A5', 'Print on A5'],
    link: ['Copiar el enlace', 'Copy the link'],
    copied: ['Copiamos el enlace.', 'Link copied.'],
    uncopied: ['El navegador no dejó copiar.', 'The browser did not let us copy.'],
    pause: ['Pausar', 'Put on hold'],
    resume: ['Seguir entregando', 'Resume'],
    edit: ['Cambiar los topes', 'Change the limits'],
    delete: ['Borrar', 'Delete'],
    'delete.title': ['¿Borrar este afiche?', 'Delete this poster?'],
    'delete.why': [
      'Quien escanee el papel ya no se lleva nada. Los cupones que ya se llevaron siguen valiendo.',
      'Whoever scans the paper can no longer take a coupon. Coupons already taken are still valid.',
    ],
    'delete.done': ['Borramos el afiche.', 'Poster deleted.'],
    qr: ['Código QR del afiche', 'QR code of the poster'],
    'reach.device': [
      'Este QR se abre sólo en este equipo. Para que lo abra un cliente, entrá acá por la dirección que usan los demás equipos del local.',
      'This QR code only opens on this device. For a customer to open it, use the address that the shop’s other devices use.',
    ],
    'reach.network': [
      'Este QR se abre sólo en el Wi-Fi del local: tu cliente tiene que estar conectado.',
      'This QR code opens on the shop’s Wi-Fi only: your customer has to be connected to it.',
    ],

    'field.label': ['Nombre para vos (opcional)', 'A name for yourself (optional)'],
    'field.label.hint': ['Por ejemplo, «Vidriera».', 'For example, “Window”.'],
    'field.person': ['Por persona', 'Per person'],
    'field.day': ['Por día (opcional)', 'Per day (optional)'],
    'field.total': ['En total (opcional)', 'In total (optional)'],
    'field.total.hint': [
      'Vacío: sin tope. Alguien con paciencia se los puede llevar todos.',
      'Leave it empty for no limit: a patient person can then take them all.',
    ],
    'field.starts': ['Desde el día (opcional)', 'From (optional)'],
    'field.ends': ['Hasta el día, inclusive (opcional)', 'Up to and including (optional)'],
    create: ['Crear el afiche', 'Create the poster'],
    save: ['Guardar', 'Save'],
    saved: ['Guardado.', 'Saved.'],
    'wrong.number': [
      'Un número entero desde 1, o vacío si no hay tope.',
      'A whole number from 1, or empty for no limit.',
    ],
    'wrong.taken': [
      'Ya se llevó {n}: el total no puede ser menor. Para que nadie se lleve más, pausá el afiche.|Ya se llevaron {n}: el total no puede ser menor. Para que nadie se lleve más, pausá el afiche.',
      '{n} already taken: the total cannot be lower. To stop giving coupons, put the poster on hold.',
    ],
    'wrong.person': ['Un número entero, de 1 a 100.', 'A whole number, from 1 to 100.'],
    'wrong.label': ['Hasta 80 letras visibles.', 'Up to 80 visible letters.'],
    'wrong.day': [
      'Revisá las fechas: tiene que terminar después de empezar, y no antes de hoy.',
      'Check the dates: it has to end after it starts, and not before today.',
    ],
  },
  panelWords,
)
