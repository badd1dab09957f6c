import { couponWords } from './coupons.ts'
import { createWords } from './words.ts'

/** Sentences of the panel about tills, redemptions and the chart. */
export const shopWords = createWords(
  {
    'tills.title': ['Tus cajas', 'Your tills'],
    'tills.lead': [
      'Cada caja tiene su propia clave y puede emitir tus cupones. Se la podés quitar cuando quieras; la tuya nunca sale de acá.',
      'Each till has a key of its own and may issue your coupons. Take it back whenever you like; yours never leaves this place.',
    ],
    'tills.how': [
      'Leé este QR con el equipo de la caja: queda lista para canjear los cupones de tu comercio. Para que también los emita, autorizala con el QR que ella muestra.',
      'Read this QR with the till’s device: it is ready to redeem the coupons of your shop. For it to issue them, too, authorise it by the QR that it shows.',
    ],
    'tills.qr': ['Código QR que abre la caja', 'QR code that opens the till'],
    'tills.open': ['Abrir la caja acá', 'Open the till here'],
    'tills.add': ['Autorizar una caja', 'Authorise a till'],
    'tills.key': ['Clave de la caja', 'Key of the till'],
    'tills.key.hint': [
      'Un npub, o un nombre como caja@mitienda.com. También podés escanear su QR.',
      'An npub, or a name such as till@myshop.com. Or scan its QR.',
    ],
    'tills.label': ['¿Cómo la llamás?', 'What do you call it?'],
    'tills.label.example': ['Caja 1', 'Till 1'],
    'tills.do': ['Autorizar', 'Authorise'],
    'tills.added': [
      'Autorizada: ya puede emitir tus cupones.',
      'Authorised: it can issue your coupons now.',
    ],
    'tills.empty': ['Todavía no hay cajas', 'No tills yet'],
    'tills.unnamed': ['Sin nombre', 'Unnamed'],
    'tills.since': ['Desde el {day}', 'Since {day}'],
    'tills.remove': ['Quitar', 'Remove'],
    'tills.remove.label': ['Quitar la caja {name}', 'Remove till {name}'],
    'tills.remove.title': ['¿Quitar esta caja?', 'Remove this till?'],
    'tills.remove.why': [
      'Deja de poder emitir al instante. Lo que ya emitió sigue valiendo.',
      'It can issue no more, at once. What it issued stays good.',
    ],
    'tills.removed': ['Quitada.', 'Removed.'],

    'redeemed.title': ['Canjes', 'Redemptions'],
    'redeemed.empty': ['Todavía no hay canjes', 'No redemptions yet'],
    'redeemed.empty.why': [
      'Cuando una caja canjee un cupón, aparece acá.',
      'When a till redeems a coupon, it shows here.',
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
    'chart.title': ['Emitidos y canjeados por día', 'Issued and redeemed by day'],
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
