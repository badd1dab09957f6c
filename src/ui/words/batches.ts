import { couponWords } from './coupons.ts'
import { createWords } from './words.ts'

/** Sentences about coupons that are issued together, with a recipient each. */
export const batchWords = createWords(
  {
    'many.title': ['Emitir varios', 'Issue several'],
    'many.count': ['¿Cuántos?', 'How many?'],
    'many.hint': ['De 1 a 500 por vez.', '1 to 500 at a time.'],
    'many.do': ['Emitir', 'Issue'],
    'many.do.each': ['Emitir {n} con nombre', 'Issue {n} with names'],
    'many.wrong': ['Un número entero de 1 a 500.', 'A whole number from 1 to 500.'],
    'many.batch': ['Nombre de la tanda (opcional)', 'Name of the batch (optional)'],
    'many.batch.hint': ['Vacío: «{name}».', 'Leave it empty for “{name}”.'],
    'many.batch.wrong': ['Un nombre de hasta 80 letras.', 'A name of up to 80 letters.'],
    'many.batch.default': ['Tanda del {day}', 'Batch of {day}'],
    'many.names': ['Poner un nombre a cada uno (opcional)', 'Name a recipient for each (optional)'],
    'many.list': ['Para quién es cada uno', 'Recipient of each'],
    'many.list.hint': [
      'Uno por línea: «Ana» o «Ana; 11 2345-6789». Los teléfonos no salen de este equipo: sirven para abrir WhatsApp con cada persona.',
      'One per line: “Ana” or “Ana; 11 2345-6789”. Phone numbers never leave this device: they open WhatsApp with each person.',
    ],
    'many.file': ['Traer de una planilla (CSV)', 'Import from a spreadsheet (CSV)'],
    'many.file.large': [
      'Ese archivo es muy grande: hasta 200 KB.',
      'That file is too large: up to 200 KB.',
    ],
    'many.file.workbook': [
      'Ese archivo es un libro de Excel o parecido, no un CSV. Abrilo con tu programa de planillas, guardalo como CSV y elegí ese.',
      'That file is an Excel workbook or similar, not a CSV. Open it in your spreadsheet program, save it as CSV and choose that one.',
    ],
    'many.file.locked': [
      'No pudimos leer ese archivo: lo movieron, lo borraron o lo tiene abierto otro programa. Elegilo de nuevo.',
      'We could not read that file: it was moved or deleted, or another program has it open. Choose it again.',
    ],
    'many.file.kind': [
      'Ese archivo no es de texto: puede ser una imagen o un PDF. Elegí una planilla guardada como CSV.',
      'That file is not text: it may be a picture or a PDF. Choose a spreadsheet saved as CSV.',
    ],
    'many.file.quote': [
      'En la línea {line} hay una comilla (") que no se cierra. Borrala o cerrala, y elegí el archivo de nuevo.',
      'In line {line} a quotation mark (") is never closed. Delete it or close it, and choose the file again.',
    ],
    'many.file.many': [
      'Esa planilla tiene {n} nombres, y entran hasta 500. Partila.',
      'That spreadsheet has {n} names, and 500 is the limit. Split it.',
    ],
    'many.file.empty': ['Esa planilla no tiene nombres.', 'That spreadsheet has no names.'],
    'many.file.nameless': [
      'En la primera línea están las columnas {titles}, y falta la de los nombres: llamala «destinatario» o «nombre».',
      'The first line has the columns {titles}, and the one of names is missing: call it “recipient” or “name”.',
    ],
    'many.line': ['Línea {line}: {why}', 'Line {line}: {why}'],
    'many.line.nameless': ['falta el nombre.', 'the name is missing.'],
    'many.line.long': ['el nombre pasa de 80 letras.', 'the name has more than 80 letters.'],
    'many.line.signs': [
      'el nombre tiene signos que no se ven.',
      'the name has characters that cannot be seen.',
    ],
    'many.line.phone': [
      'ese teléfono no puede ser. Después del nombre va un «;» y el número.',
      'that phone number cannot be right. The name is followed by “;” and the number.',
    ],
    'many.line.area': [
      'al teléfono le falta el código de área.',
      'the phone number lacks its area code.',
    ],
    'many.line.more': [
      'Y {n} línea más.|Y {n} líneas más.',
      'And {n} more line.|And {n} more lines.',
    ],
    'many.people': ['Hasta 500 por vez, y hay {n}.', 'Up to 500 at a time; there are {n}.'],
    'many.rest': [
      'Se emitió {n} de {all}. Entregalo, y emití el resto desde «{name}».|Se emitieron {n} de {all}. Entregalos, y emití el resto desde «{name}».',
      '{n} of {all} was issued. Hand it over, and issue the rest from “{name}” on.|{n} of {all} were issued. Hand them over, and issue the rest from “{name}” on.',
    ],
    'batches.empty': [
      'Todavía no hay tandas: «Emitir varios» arma una cada vez.',
      'No batches yet: “Issue several” makes one each time.',
    ],
    'batches.name': ['Tanda', 'Batch'],
    'batches.at': ['Cuándo', 'When'],
    'batches.issued': ['Emitidos', 'Issued'],
    'batches.open': ['Sin usar', 'Not used yet'],
    'batches.claimed': ['Canjeados', 'Redeemed'],
    'batches.expired': ['Vencidos', 'Expired'],
    'batches.voided': ['Anulados', 'Voided'],
    'batches.void': ['Anular la tanda', 'Void the batch'],
    'batches.void.label': ['Anular la tanda {name}', 'Void batch {name}'],
    'batches.void.title': ['¿Anular la tanda «{name}»?', 'Void batch “{name}”?'],
    'batches.void.why': [
      'Deja de valer {n} cupón sin canjear, también si cambió de manos. Los canjeados quedan en tus registros. No se puede deshacer.|Dejan de valer {n} cupones sin canjear, también los que cambiaron de manos. Los canjeados quedan en tus registros. No se puede deshacer.',
      '{n} unredeemed coupon stops working, even if it changed hands. Redeemed ones stay in your records. This cannot be undone.|{n} unredeemed coupons stop working, even those that changed hands. Redeemed ones stay in your records. This cannot be undone.',
    ],
    'issued.file': ['emitidos.csv', 'issued.csv'],
    'table.date': ['Fecha', 'Date'],
    'table.time': ['Hora', 'Time'],
    'sheet.do': ['Bajar planilla', 'Download a spreadsheet'],
    'sheet.why': [
      'Lleva los códigos: quien tenga ese archivo los puede usar.',
      'It has the codes: anyone with that file can use them.',
    ],
    'sheet.file': ['entregas.csv', 'handed-over.csv'],
    'sheet.recipient': ['Destinatario', 'Recipient'],
    'sheet.link': ['Enlace', 'Link'],
    'sheet.code': ['Código para escribir', 'Code to type'],
  },
  couponWords,
)
