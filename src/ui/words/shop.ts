import { couponWords } from './coupons.ts'
import { createWords } from './words.ts'

/** Sentences of the panel about tills, redemptions and the chart. */
export const shopWords = createWords(
  {
    'tills.title': ['Tus cajas', 'Your tills'],
    'tills.lead': [
      'Cada caja tiene su propia clave y puede emitir tus cupones. Se la podés quitar cuando quieras; la tuya nunca sale de acá.',
      'Each till has its own key and can issue your coupons. You can remove it whenever you like; your own key never leaves this device.',
    ],
    'tills.how': [
      'Leé este QR con el equipo de la caja: queda lista para canjear los cupones de tu comercio. Para que también los emita, autorizala con el QR que ella muestra.',
      'Scan this QR code with the till’s device: it is ready to redeem your shop’s coupons. To let it issue them as well, authorise it with the QR code that it shows.',
    ],
    'tills.qr': ['Código QR que abre la caja', 'QR code that opens the till'],
    'tills.open': ['Abrir la caja acá', 'Open the till on this device'],
    'tills.add': ['Autorizar una caja', 'Authorise a till'],
    'tills.key': ['Clave de la caja', 'The till’s key'],
    'tills.key.hint': [
      'La muestra la caja en «Emitir», con un QR que podés escanear. También sirve un nombre como caja@mitienda.com.',
      'The till shows it under “Issue”, with a QR code that you can scan. A name such as till@myshop.com works too.',
    ],
    'tills.label': ['¿Cómo la llamás? (opcional)', 'What do you call it? (optional)'],
    'tills.label.example': ['Ej.: Caja 1', 'E.g. Till 1'],
    'tills.do': ['Autorizar', 'Authorise'],
    'tills.added': [
      'Autorizada: ya puede emitir tus cupones.',
      'Authorised: it can issue your coupons now.',
    ],
    'tills.empty': ['Todavía no hay cajas', 'No tills yet'],
    'tills.unnamed': ['Sin nombre', 'No name'],
    'tills.since': ['Desde el {day}', 'Since {day}'],
    'tills.remove': ['Quitar', 'Remove'],
    'tills.remove.label': ['Quitar la caja {name}', 'Remove till {name}'],
    'tills.remove.title': ['¿Quitar esta caja?', 'Remove this till?'],
    'tills.remove.why': [
      'Deja de poder emitir al instante. Lo que ya emitió sigue valiendo.',
      'It can no longer issue coupons, as of now. Those it has issued are still valid.',
    ],
    'tills.removed': ['Quitada.', 'Removed.'],

    'redeemed.title': ['Canjes', 'Redemptions'],
    'redeemed.empty': ['Todavía no hay canjes', 'No redemptions yet'],
    'redeemed.empty.why': [
      'Cuando una caja canjee un cupón, aparece acá.',
      'When a till redeems a coupon, it appears here.',
    ],
    'redeemed.none': ['Ningún canje coincide con el filtro.', 'No redemption matches the filter.'],
    'redeemed.coupon': ['Cupón', 'Coupon'],
    'redeemed.all': ['Todos', 'All'],
    'redeemed.from': ['Desde', 'From'],
    'redeemed.to': ['Hasta', 'To'],
    'redeemed.when': ['Cuándo', 'When'],
    'redeemed.benefit': ['Beneficio', 'Benefit'],
    'redeemed.amount': ['Monto', 'Amount'],
    'redeemed.code': ['Código', 'Code'],
    'redeemed.order': ['Pedido', 'Order'],
    'redeemed.export': ['Exportar a planilla (CSV)', 'Export to a spreadsheet (CSV)'],
    'redeemed.file': ['canjes.csv', 'redemptions.csv'],
    'chart.title': ['Emitidos y canjeados por día', 'Issued and redeemed per day'],
    'chart.range': ['Período', 'Period'],
    'chart.days': ['Últimos {n} días', 'Last {n} days'],
    'chart.minted': ['Emitidos', 'Issued'],
    'chart.claimed': ['Canjeados', 'Redeemed'],
    'chart.none': ['Nada en este período.', 'Nothing in this period.'],
    'chart.table': ['Ver como tabla', 'Show as a table'],
    'chart.day': ['Día', 'Day'],
    'chart.alt': [
      'Emitidos: {minted}. Canjeados: {claimed}.',
      'Issued: {minted}. Redeemed: {claimed}.',
    ],
  },
  couponWords,
)
