import { commonWords } from './common.ts'
import { createWords } from './words.ts'

/** Sentences about printers of tickets. */
export const printerWords = createWords(
  {
    'ticket.do': ['Imprimir ticket', 'Print ticket'],
    'ticket.do.many': ['Imprimir {n} tickets', 'Print {n} tickets'],
    'ticket.rest': ['Imprimir los que faltan', 'Print the rest'],
    'ticket.part': ['Salieron {at} de {all}.', '{at} of {all} came out.'],
    'ticket.done': ['Ya está en la impresora.', 'Sent to the printer.'],
    'ticket.browser': ['Imprimir con el navegador', 'Print with the browser'],
    'trouble.gone': [
      'No encontramos la impresora. Fijate que esté enchufada y prendida.',
      'We cannot find the printer. Check that it is plugged in and switched on.',
    ],
    'trouble.paper': [
      'La impresora no tiene papel. Poné un rollo y probá de nuevo.',
      'The printer is out of paper. Put in a roll and try again.',
    ],
    'trouble.busy': [
      'Otro programa está usando la impresora, o este equipo no deja que el navegador la use.',
      'Another program is using the printer, or this device does not let the browser use it.',
    ],
    'trouble.stuck': [
      'La impresora dejó de responder. Revisá el papel y la tapa, y mirá qué salió antes de probar de nuevo.',
      'The printer stopped responding. Check its paper and cover, and look at what came out before you try again.',
    ],
    'trouble.letters': [
      'Este cupón tiene letras que la impresora no tiene. Imprimilo con el navegador.',
      'This coupon has letters that the printer does not have. Print it with the browser.',
    ],
    'trouble.failed': [
      'La impresora no anduvo. Desenchufala, enchufala de nuevo y probá otra vez.',
      'The printer did not work. Unplug it, plug it in again and try once more.',
    ],
    'printer.title': ['Impresora de tickets', 'Ticket printer'],
    'printer.lead': [
      'Con una impresora de rollo conectada a este equipo, cada ticket sale con un toque.',
      'With a receipt printer connected to this device, each ticket takes one tap.',
    ],
    'printer.choose.usb': ['Elegir impresora USB', 'Choose a USB printer'],
    'printer.choose.serial': [
      'Elegir por cable serie o Bluetooth',
      'Choose a serial or Bluetooth printer',
    ],
    'printer.chosen.usb': ['Está elegida una impresora USB.', 'A USB printer is chosen.'],
    'printer.chosen.serial': [
      'Está elegida una impresora por cable serie o Bluetooth.',
      'A serial or Bluetooth printer is chosen.',
    ],
    'printer.forget': ['Quitar la impresora', 'Remove the printer'],
    'printer.width': ['Ancho del papel', 'Width of the paper'],
    'printer.width.58': ['58 mm', '58 mm'],
    'printer.width.80': ['80 mm', '80 mm'],
    'printer.speed': ['Velocidad', 'Speed'],
    'printer.accents': ['Imprimir acentos y eñes', 'Print accents'],
    'printer.trial.do': ['Imprimir uno de prueba', 'Print a test ticket'],
    'printer.trial': ['Ticket de prueba', 'Test ticket'],
    'printer.trial.hint': [
      'Si las letras salen raras, apagá «Imprimir acentos y eñes». Si los números no entran en una línea, elegí otro ancho.',
      'If letters look odd, switch off “Print accents”. If the digits take more than one line, choose another width.',
    ],
  },
  commonWords,
)
