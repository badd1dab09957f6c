import { commonWords } from './common.ts'
import { createWords } from './words.ts'

/** Sentences of the panel: its frame, its first page, and signing in. */
export const panelWords = createWords(
  {
    'title.of': ['{section} · {who}', '{section} · {who}'],
    'nav.label': ['Secciones', 'Sections'],
    'nav.panel': ['Panel', 'Panel'],
    'nav.home': ['Inicio', 'Home'],
    'nav.coupons': ['Cupones', 'Coupons'],
    'nav.redemptions': ['Canjes', 'Redemptions'],
    'nav.tills': ['Cajas', 'Tills'],
    'lost.service': [
      'Sin conexión con el servicio: lo que ves puede estar viejo. Seguimos probando.',
      'We cannot reach the service, so what you see may be out of date. We keep trying.',
    ],
    'not-allowed.title': ['Falta que te habiliten', 'You have not been added yet'],
    'not-allowed.why': [
      'En este servicio tienen cupones sólo los comercios que sumó quien lo maneja. Mostrale este QR o pasale tu clave para que te sume; después tocá «Probar de nuevo».',
      'Only shops that have been added to this service can have coupons. Show this QR code to whoever runs it, or send them your key, so that they can add you; then press “Try again”.',
    ],
    'setup.title': ['Un código, y empezás', 'One code and you’re in'],
    'setup.why': [
      'Todavía nadie maneja cupones en este servicio. Para que empieces vos y no un desconocido, hace falta el código que el servicio mostró al iniciarse.',
      'Nobody manages coupons on this service yet. To make sure that it is you and not a stranger who starts, enter the code that the service showed when it was started.',
    ],
    'setup.where': [
      'Pedíselo a quien lo instaló: está en la pantalla donde lo inició, y lo puede mostrar de nuevo como un QR que podés leer acá.',
      'Ask whoever installed it: it is on the screen where they started the service, and they can show it again as a QR code for you to scan here.',
    ],
    'setup.code': ['Código', 'Code'],
    'setup.code.hint': [
      'Doce letras y números. Con o sin guiones, en mayúscula o en minúscula.',
      'Twelve letters and digits, with or without dashes, in capitals or not.',
    ],
    'setup.missing': ['Escribí el código.', 'Enter the code.'],
    'setup.unread': [
      'Ese QR no es el del código. Pedile a quien instaló el servicio que muestre el del código de alta.',
      'That is not the right QR code. Ask whoever installed the service to show the one with the setup code.',
    ],
    'setup.do': ['Empezar', 'Start'],
    'setup.held': [
      'Ya tenemos el código de alta. Entrá y listo.',
      'We have your setup code. Sign in and you’re done.',
    ],
    'setup.done': ['Listo: ya podés crear cupones.', 'Done: you can create coupons now.'],
    'setup.none': ['No consigo el código', 'I can’t get the code'],
    'setup.none.why': [
      'Quien maneja el servicio también te puede sumar con esta clave:',
      'Whoever runs the service can also add you with this key:',
    ],
    'key.qr': ['QR de tu clave', 'QR code of your key'],

    'merchants.title': ['Comercios de este servicio', 'Shops on this service'],
    'merchants.why': [
      'Podés sumar a otros: cada uno maneja sus cupones y no ve los tuyos.',
      'You can add other shops. Each manages its own coupons and does not see yours.',
    ],
    'merchants.me': ['Vos', 'You'],
    'merchants.owner': ['También decide', 'Also in charge'],
    'merchants.unnamed': ['Sin nombre', 'No name'],
    'merchants.since': ['Desde el {day}', 'Since {day}'],
    'merchants.add': ['Sumar un comercio', 'Add a shop'],
    'merchants.add.how': [
      'Pedile su clave: está en su panel, en «Tu clave y sesión», o en la pantalla que le aparece al entrar, con un QR.',
      'Ask for their key: it is in their panel, under “Your key and session”, or on the screen they see when they sign in, with a QR code.',
    ],
    'merchants.key': ['Clave del comercio', 'The shop’s key'],
    'merchants.key.hint': ['Pegala entera, o leé su QR.', 'Paste all of it, or scan its QR code.'],
    'merchants.key.wrong': [
      'Eso no es la clave de un comercio. Copiala entera o leé su QR.',
      'That is not a shop’s key. Copy all of it, or scan its QR code.',
    ],
    'merchants.label': ['¿Cómo lo llamás? (opcional)', 'What do you call it? (optional)'],
    'merchants.label.example': ['Ej.: Panadería de Ana', 'E.g. Ana’s bakery'],
    'merchants.do': ['Sumar', 'Add'],
    'merchants.added': [
      'Listo: ya puede crear sus cupones.',
      'Done: they can create their coupons now.',
    ],
    'merchants.remove': ['Quitar', 'Remove'],
    'merchants.remove.label': ['Quitar el comercio {name}', 'Remove the shop {name}'],
    'merchants.remove.title': ['¿Quitar a {name}?', 'Remove {name}?'],
    'merchants.remove.why': [
      'Al instante deja de poder crear y entregar cupones. Los que ya entregó siguen valiendo.',
      'They can no longer create or hand over coupons, as of now. Those already handed over are still valid.',
    ],
    'merchants.removed': ['Quitado.', 'Removed.'],

    loading: ['Cargando…', 'Loading…'],
    retry: ['Probar de nuevo', 'Try again'],

    'in.title': [
      'Cupones para tu negocio, listos en dos minutos',
      'Coupons for your shop, ready in two minutes',
    ],
    'in.lead': [
      'Inventás el cupón, lo mostrás en pantalla y tu cliente se lo lleva en el teléfono. Cuando vuelve, tu caja lo canjea.',
      'Make up a coupon, show it on your screen, and your customer takes it away on their phone. When they come back, your till redeems it.',
    ],
    'in.sample': ['café', 'coffee'],
    'in.sample.name': ['Café de a dos', 'Coffee for two'],
    'in.sample.terms': ['De lunes a jueves, de 15 a 19.', 'Monday to Thursday, 3 to 7 pm.'],
    'in.how': ['¿Cómo querés entrar?', 'How do you want to sign in?'],
    'in.local': ['Crear mi clave acá', 'Create my key here'],
    'in.local.why': [
      'Lo más fácil: elegís un PIN y listo. Sin mail ni contraseñas.',
      'The easy way: choose a PIN and go. No mail, no passwords.',
    ],
    'in.extension': ['Con mi extensión', 'With my browser extension'],
    'in.extension.why': [
      'Si tu navegador ya guarda tu clave de Nostr.',
      'If your browser already holds your Nostr key.',
    ],
    'in.remote': ['Con mi firmador', 'With my signer'],
    'in.remote.why': [
      'Tu clave queda en el teléfono: escaneás un QR o pegás su dirección.',
      'Your key stays on your phone: scan a QR code or paste its address.',
    ],
    'in.unlock': ['Entrá con tu PIN', 'Sign in with your PIN'],
    'in.enter': ['Entrar', 'Sign in'],
    'in.other': ['Entrar de otra forma', 'Sign in another way'],
    'in.again': ['Firmá de nuevo para seguir', 'Sign in again to carry on'],
    'in.again.why': [
      'Tu sesión terminó. Lo que estabas haciendo sigue acá.',
      'Your session has ended. What you were doing is still here.',
    ],
    'in.again.leave': ['Salir y descartarlo', 'Sign out and discard it'],
    'pin.new': ['Elegí un PIN', 'Choose a PIN'],
    'pin.hint': [
      'Seis números o más. Lo vas a necesitar para entrar desde este equipo: no lo podemos recuperar.',
      'At least six digits. You need it to sign in on this device, and we cannot recover it.',
    ],
    pin: ['PIN', 'PIN'],
    'pin.change': ['Cambiar PIN', 'Change the PIN'],
    'pin.old': ['Tu PIN de ahora', 'Your current PIN'],
    'pin.fresh': ['El PIN nuevo', 'The new PIN'],
    'pin.changed': ['Listo: tu PIN cambió.', 'Done: your PIN has been changed.'],
    'pin.changed.backup': [
      'Las copias que guardaste antes se abren con el PIN anterior. Guardá una nueva.',
      'Backups that you saved before open with the old PIN. Save a new one.',
    ],
    'pin.changed.done': ['Entendido', 'Got it'],
    'key.fleeting': [
      'Este navegador no guarda nada: es una ventana privada o tiene bloqueado el almacenamiento. Tu clave se pierde al cerrar o actualizar esta página. Entrá desde una ventana común, o guardá la copia de seguridad antes de salir.',
      'This browser saves nothing: it is a private window, or storage is blocked. Your key is lost when you close or reload this page. Use an ordinary window, or save the backup before you leave.',
    ],
    'key.make': ['Crear mi clave', 'Create my key'],
    'key.bring': ['Ya tengo una clave o una copia', 'I already have a key or a backup'],
    'key.text': ['Tu clave o tu copia', 'Your key or your backup'],
    'key.text.hint': [
      'Pegá la copia entera, o abrí abajo el archivo o una foto de su QR. Una copia se abre con el PIN que tenías al guardarla.',
      'Paste the whole backup, or open its file or a photo of its QR code below. A backup opens with the PIN you had when you saved it.',
    ],
    'key.file': ['Abrir el archivo o la foto', 'Open the file or photo'],
    'key.file.found': [
      'Leímos tu copia. Ahora poné su PIN.',
      'We read your backup. Now enter its PIN.',
    ],
    'key.file.open': [
      'Leímos tu clave. Ahora elegí un PIN.',
      'We read your key. Now choose a PIN.',
    ],
    'key.file.none': [
      'En ese archivo no hay una clave. Elegí el que guardaste con «Guardar la copia».',
      'There is no key in that file. Choose the one that you saved with “Save the backup”.',
    ],
    'key.forget': ['Olvidar esta clave en este equipo', 'Forget this key on this device'],
    'key.forget.title': ['¿Olvidar la clave?', 'Forget the key?'],
    'key.forget.why': [
      'Sin una copia de seguridad perdés para siempre el manejo de tus cupones. Los que ya entregaste siguen valiendo.',
      'Without a backup you lose control of your coupons for good. Those already handed over are still valid.',
    ],

    'remote.relay': ['Punto de encuentro (relay)', 'Meeting point (relay)'],
    'remote.relay.hint': [
      'Por acá se hablan esta página y tu firmador. El de este servicio alcanza si tu teléfono puede abrir esta dirección.',
      'Where this page and your signer meet. The one on this service is enough if your phone can open this address.',
    ],
    'remote.scan': ['Escanealo con tu firmador', 'Scan it with your signer'],
    'remote.copy': ['Copiar la dirección', 'Copy the address'],
    'remote.paste': ['o pegá una dirección bunker://', 'or paste a bunker:// address'],
    'remote.bunker': ['Dirección bunker://', 'bunker:// address'],
    'remote.connect': ['Conectar', 'Connect'],
    'remote.qr': ['Código QR para conectar un firmador', 'QR code to connect a signer'],
    'wait.scan': [
      'Esperamos a que tu firmador lea el código.',
      'Waiting for your signer to scan the code.',
    ],
    'wait.connect': [
      'Esperamos a que tu firmador acepte la conexión.',
      'Waiting for your signer to accept the connection.',
    ],
    'wait.key': [
      'Conectado. Le pedimos tu clave pública.',
      'Connected. Asking for your public key.',
    ],
    'wait.signature': ['Aceptá la firma en tu firmador.', 'Approve the signature in your signer.'],
    'wait.left': ['Quedan {n} s', '{n} s left'],
    'wait.open': [
      'Tu firmador pide que aceptes en su página',
      'Your signer asks you to approve on its page',
    ],

    'me.title': ['Ajustes', 'Settings'],
    'me.open': ['Tu clave y sesión', 'Your key and session'],
    'me.public': [
      'Tu clave pública: con ella te reconocen las cajas.',
      'Your public key: it is how tills recognise you.',
    ],
    'me.announcement': ['Publicar mi negocio (opcional)', 'Publish my shop (optional)'],
    'me.out': ['Salir', 'Sign out'],
    'backup.title': ['Copia de seguridad', 'Backup'],
    'backup.why': [
      'Tu clave vive sólo en este navegador. Si lo borrás o se rompe el equipo, la perdés. Guardá este archivo en otro lado: se abre con tu PIN.',
      'Your key exists only in this browser. If you clear it, or the device breaks, the key is gone. Keep this file somewhere else: your PIN opens it.',
    ],
    'backup.save': ['Guardar la copia', 'Save the backup'],
    'backup.done': ['Ya la guardé', 'I have saved it'],
    'backup.show': ['La copia como texto y como QR', 'The backup as text and as a QR code'],
    'backup.qr': ['QR de tu copia', 'QR code of your backup'],
    'file.title': ['Copia de seguridad de tu clave', 'Backup of your key'],
    'file.what': [
      'Qué es: la clave con la que entrás al panel de Cuponera y manejás tus cupones. Está protegida con tu PIN.',
      'What it is: the key with which you sign in to the Cuponera panel and manage your coupons. Your PIN protects it.',
    ],
    'file.where': ['Dónde se abre: {address}', 'Where it opens: {address}'],
    'file.how': [
      'Cómo: tocá «Ya tengo una clave o una copia», abrí este archivo o pegá todo este texto, y poné el PIN que tenías cuando lo guardaste ({saved}).',
      'How: press “I already have a key or a backup”, open this file or paste the whole of this text, and enter the PIN you had when you saved it ({saved}).',
    ],
    'file.care': [
      'Cuidala: guardala lejos de ese equipo y no anotes el PIN acá. Sin el PIN no se abre, y nadie lo puede recuperar.',
      'Take care of it: keep it away from that device, and do not write the PIN here. Without the PIN it cannot be opened, and nobody can recover it.',
    ],
    'file.key': [
      'Tu clave, protegida (no cambies nada):',
      'Your key, protected (do not change anything):',
    ],
    'file.public': [
      'Tu identificador público, que no es secreto:',
      'Your public identifier, which is not secret:',
    ],

    'start.title': ['Primeros pasos', 'First steps'],
    'start.of': ['{done} de {all}', '{done} of {all} done'],
    'start.announce': ['Publicar mi negocio (opcional)', 'Publish my shop (optional)'],
    'start.announce.why': [
      'Sirve para que otras aplicaciones encuentren tus cupones. Si los usás sólo en tu local, no hace falta.',
      'So that other apps can find your coupons. If you only use them in your shop, there is no need.',
    ],
    'start.announce.do': ['Publicar', 'Publish'],
    'start.announce.warned': [
      'Se publicó, pero hay algo para revisar con quien maneja el servicio: {found}',
      'It is published, but there is something to check with whoever runs the service: {found}',
    ],
    'start.announce.https': [
      'Para publicar hace falta una dirección pública, que empieza con https, y este servicio no la tiene. Podés seguir igual: tus cajas funcionan sin esto. Si la querés, pedísela a quien lo instaló.',
      'Publishing takes a public address, one that begins with https, and this service has none. You can carry on: your tills work without it. If you want one, ask whoever installed the service.',
    ],
    'start.create': ['Creá tu primer cupón', 'Create your first coupon'],
    'start.create.why': [
      'Un 2x1, un descuento, un regalo: lo armás en tres pasos.',
      'Two for one, a discount, a gift: it takes three steps.',
    ],
    'start.create.do': ['Crear un cupón', 'Create a coupon'],
    'start.mint': ['Entregá uno', 'Hand one over'],
    'start.mint.why': [
      'Sale un QR en pantalla: escanealo con tu teléfono, como si fueras tu cliente.',
      'A QR code appears: scan it with your phone, as your customer would.',
    ],
    'start.mint.do': ['Emitir uno', 'Issue one'],
    'start.redeem': ['Canjealo', 'Redeem it'],
    'start.redeem.why': [
      'Abrí la caja y escaneá el cupón del teléfono. Acá lo vas a ver al instante.',
      'Open the till and scan the coupon from the phone. You will see it here at once.',
    ],
    'start.redeem.do': ['Abrir la caja', 'Open the till'],
    'start.done': ['hecho', 'done'],
    'start.all': ['¡Listo! Tu negocio ya tiene cupones.', 'Done! Your shop has coupons.'],
    'start.announce.again': ['Publicar de nuevo', 'Publish again'],
    'start.announce.withdraw': ['Dejar de publicar', 'Stop publishing'],
    'start.announce.withdrawn': ['Listo: ya no se publica.', 'Done: it is no longer published.'],
    'relay.pending': ['en camino', 'on its way'],
    'relay.delivered': ['llegó', 'arrived'],
    'relay.refused': ['no lo aceptó', 'refused it'],
    'relay.expired': ['no llegó', 'did not arrive'],

    'relay.own': ['Este servicio', 'This service'],
    'relay.none': ['sin conexión', 'no connection'],

    'home.title': ['Hola', 'Hello'],
    'total.minted': ['emitido|emitidos', 'issued'],
    'total.claimed': ['canjeado|canjeados', 'redeemed'],
    'total.open': ['sin usar', 'not used yet'],
    'total.left': ['queda|quedan', 'left'],
    'home.now': ['Ahora', 'Now'],
    'home.now.on': ['en vivo', 'live'],
    'home.now.off': ['sin conexión', 'not connected'],
    'home.now.empty': [
      'Lo que pase en tus cajas aparece acá al instante.',
      'Whatever happens at your tills appears here at once.',
    ],
    'now.minted': [
      'Se emitió «{name}»|Se emitieron {n} de «{name}»',
      '“{name}” was issued|{n} of “{name}” were issued',
    ],
    'now.claimed': ['Se canjeó «{name}»', '“{name}” was redeemed'],
    'now.refreshed': ['«{name}» pasó a otra mano', '“{name}” changed hands'],
    'now.voided': [
      'Se anuló «{name}»|Se anularon {n} de «{name}»',
      '“{name}” was voided|{n} of “{name}” were voided',
    ],
    'now.coupon': ['Cambió «{name}»', '“{name}” was changed'],
  },
  commonWords,
)
