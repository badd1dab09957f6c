import { commonWords } from './common.ts'
import { createWords } from './words.ts'

/** Sentences of the panel: its frame, its first page, and signing in. */
export const panelWords = createWords(
  {
    'nav.label': ['Secciones', 'Sections'],
    'nav.panel': ['Panel', 'Panel'],
    'nav.home': ['Inicio', 'Home'],
    'nav.coupons': ['Cupones', 'Coupons'],
    'nav.redemptions': ['Canjes', 'Redemptions'],
    'nav.tills': ['Cajas', 'Tills'],
    'lost.service': [
      'Sin conexión con el servicio: lo que ves puede estar viejo. Seguimos probando.',
      'The service is out of reach: what you see may be old. We keep trying.',
    ],
    'not-allowed.title': ['Falta que te habiliten', 'You are not enabled yet'],
    'not-allowed.why': [
      'En este servicio tienen cupones sólo los comercios que habilitó quien lo opera. Pasale esta clave pública para que te sume; después tocá «Probar de nuevo».',
      'On this service only merchants that its operator enabled have coupons. Send them this public key to be added; then press “Try again”.',
    ],
    'setup.title': ['Un código, y empezás', 'A code, and you start'],
    'setup.why': [
      'Todavía nadie maneja cupones en este servicio. Para que empieces vos y no un desconocido, hace falta el código que el servicio mostró al iniciarse.',
      'Nobody manages coupons on this service yet. So that you begin and not a stranger, it takes the code that the service showed when it started.',
    ],
    'setup.where': [
      'Pedíselo a quien lo instaló: está en la pantalla donde lo inició. Con «cuponera setup» lo ve de nuevo, también como un QR que podés leer acá.',
      'Ask whoever installed it: it is on the screen where they started it. “cuponera setup” shows it again, also as a QR that you can read here.',
    ],
    'setup.code': ['Código', 'Code'],
    'setup.code.hint': [
      'Doce letras y números. Con o sin guiones, en mayúscula o en minúscula.',
      'Twelve letters and digits. With or without dashes, in either case.',
    ],
    'setup.missing': ['Escribí el código.', 'Type the code.'],
    'setup.unread': [
      'Ese QR no es el del código. Es el que muestra «cuponera setup».',
      'That is not the QR of the code. It is the one that “cuponera setup” shows.',
    ],
    'setup.do': ['Empezar', 'Start'],
    'setup.held': [
      'Ya tenemos el código de alta. Entrá y listo.',
      'We have the setup code. Sign in, and that is it.',
    ],
    'setup.done': ['Listo: ya podés crear cupones.', 'Done: you can create coupons.'],
    'setup.none': ['No consigo el código', 'I cannot get the code'],
    'setup.none.why': [
      'Quien maneja el servicio también te puede sumar con esta clave:',
      'Whoever runs the service can also add you by this key:',
    ],
    'key.qr': ['QR de tu clave', 'QR of your key'],

    'merchants.title': ['Comercios de este servicio', 'Shops of this service'],
    'merchants.why': [
      'Podés sumar a otros: cada uno maneja sus cupones y no ve los tuyos.',
      'You can let others in: each manages their own coupons and does not see yours.',
    ],
    'merchants.me': ['Vos', 'You'],
    'merchants.owner': ['También decide', 'Decides, too'],
    'merchants.unnamed': ['Sin nombre', 'Unnamed'],
    'merchants.since': ['Desde el {day}', 'Since {day}'],
    'merchants.add': ['Sumar un comercio', 'Add a shop'],
    'merchants.add.how': [
      'Pedile su clave: está en su panel, en «Tu clave y sesión», o en la pantalla que le aparece al entrar, con un QR.',
      'Ask for their key: it is in their panel, under “Your key and session”, or on the screen they get when they sign in, with a QR.',
    ],
    'merchants.key': ['Clave del comercio', 'Key of the shop'],
    'merchants.key.hint': ['Empieza con npub1.', 'It begins with npub1.'],
    'merchants.key.wrong': [
      'Eso no es la clave de un comercio. Copiala entera o leé su QR.',
      'That is not the key of a shop. Copy all of it, or read its QR.',
    ],
    'merchants.label': ['¿Cómo lo llamás? (opcional)', 'What do you call it? (optional)'],
    'merchants.label.example': ['Panadería de Ana', 'Ana’s bakery'],
    'merchants.do': ['Sumar', 'Add'],
    'merchants.added': ['Listo: ya puede crear sus cupones.', 'Done: it can create its coupons.'],
    'merchants.remove': ['Quitar', 'Remove'],
    'merchants.remove.label': ['Quitar el comercio {name}', 'Remove the shop {name}'],
    'merchants.remove.title': ['¿Quitar a {name}?', 'Remove {name}?'],
    'merchants.remove.why': [
      'Al instante deja de poder crear y entregar cupones. Los que ya entregó siguen valiendo.',
      'At once it can create and hand over coupons no more. Those that are out stay good.',
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
      'Make up a coupon, show it on a screen, and your customer takes it along on the phone. When they come back, your till redeems it.',
    ],
    'in.sample': ['café', 'coffee'],
    'in.sample.name': ['Café de a dos', 'Coffee for two'],
    'in.sample.terms': ['De lunes a jueves, de 15 a 19.', 'Monday to Thursday, 3 to 7 pm.'],
    'in.how': ['¿Cómo querés entrar?', 'How do you want to sign in?'],
    'in.local': ['Crear mi clave acá', 'Make my key here'],
    'in.local.why': [
      'Lo más fácil: elegís un PIN y listo. Sin mail ni contraseñas.',
      'The easy way: choose a PIN and go. No mail, no passwords.',
    ],
    'in.extension': ['Con mi extensión', 'With my extension'],
    'in.extension.why': [
      'Si tu navegador ya guarda tu clave de Nostr.',
      'If your browser keeps your Nostr key already.',
    ],
    'in.remote': ['Con mi firmador', 'With my signer'],
    'in.remote.why': [
      'Tu clave queda en el teléfono: escaneás un QR o pegás una dirección bunker.',
      'Your key stays on your phone: scan a QR or paste a bunker address.',
    ],
    'in.unlock': ['Entrá con tu PIN', 'Sign in with your PIN'],
    'in.enter': ['Entrar', 'Sign in'],
    'in.other': ['Entrar de otra forma', 'Sign in another way'],
    'in.again': ['Firmá de nuevo para seguir', 'Sign again to go on'],
    'in.again.why': [
      'Tu sesión terminó. Lo que estabas haciendo sigue acá.',
      'Your session has ended. What you were doing is still here.',
    ],
    'in.again.leave': ['Salir y descartarlo', 'Sign out and drop it'],
    'pin.new': ['Elegí un PIN', 'Choose a PIN'],
    'pin.hint': [
      'Seis números o más. Lo vas a necesitar para entrar desde este equipo: no lo podemos recuperar.',
      'Six digits or more. You need it to sign in on this device: we cannot recover it.',
    ],
    'pin.again': ['Repetí el PIN', 'Repeat the PIN'],
    'pin.differ': ['No son iguales. Escribilo de nuevo.', 'They differ. Type it again.'],
    pin: ['PIN', 'PIN'],
    'key.fleeting': [
      'Este navegador no guarda nada: es una ventana privada o tiene bloqueado el almacenamiento. Tu clave se pierde al cerrar o actualizar esta página. Entrá desde una ventana común, o guardá la copia de seguridad antes de salir.',
      'This browser keeps nothing: it is a private window, or storage is blocked. Your key is lost when this page is closed or reloaded. Come in from an ordinary window, or save the backup before you leave.',
    ],
    'key.make': ['Crear mi clave', 'Make my key'],
    'key.bring': ['Ya tengo una clave o una copia', 'I have a key or a backup already'],
    'key.text': ['Tu clave o tu copia', 'Your key or your backup'],
    'key.text.hint': [
      'Pegá la copia entera, o abrí abajo el archivo o una foto de su QR. Una copia se abre con el PIN que tenías al guardarla.',
      'Paste the whole backup, or open its file or a photo of its QR below. A backup opens with the PIN you had when you saved it.',
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
      'There is no key in that file. Choose the one you saved with “Save the backup”.',
    ],
    'key.forget': ['Olvidar esta clave en este equipo', 'Forget this key on this device'],
    'key.forget.title': ['¿Olvidar la clave?', 'Forget the key?'],
    'key.forget.why': [
      'Sin una copia de seguridad perdés para siempre el manejo de tus cupones. Los que ya entregaste siguen valiendo.',
      'Without a backup you lose the hold of your coupons for ever. Those that are out stay good.',
    ],

    'remote.relay': ['Punto de encuentro (relay)', 'Meeting point (relay)'],
    'remote.relay.hint': [
      'Por acá se hablan esta página y tu firmador. El de este servicio alcanza si tu teléfono puede abrir esta dirección.',
      'Where this page and your signer meet. That of this service will do if your phone can reach this address.',
    ],
    'remote.scan': ['Escanealo con tu firmador', 'Scan it with your signer'],
    'remote.copy': ['Copiar la dirección', 'Copy the address'],
    'remote.paste': ['o pegá una dirección bunker://', 'or paste a bunker:// address'],
    'remote.bunker': ['Dirección bunker://', 'bunker:// address'],
    'remote.connect': ['Conectar', 'Connect'],
    'remote.qr': ['Código QR para conectar un firmador', 'QR code to connect a signer'],
    'wait.scan': [
      'Esperamos a que tu firmador lea el código.',
      'Waiting for your signer to read the code.',
    ],
    'wait.connect': [
      'Esperamos a que tu firmador acepte la conexión.',
      'Waiting for your signer to accept the connection.',
    ],
    'wait.key': [
      'Conectado. Le pedimos tu clave pública.',
      'Connected. Asking for your public key.',
    ],
    'wait.signature': ['Aceptá la firma en tu firmador.', 'Accept the signature on your signer.'],
    'wait.left': ['Quedan {n} s', '{n} s left'],
    'wait.open': [
      'Tu firmador pide que aceptes en su página',
      'Your signer asks you to accept on its page',
    ],

    'me.title': ['Tu clave', 'Your key'],
    'me.open': ['Tu clave y sesión', 'Your key and session'],
    'me.public': [
      'Tu clave pública: con ella te reconocen las cajas.',
      'Your public key: tills know you by it.',
    ],
    'me.announcement': ['Tu anuncio', 'Your announcement'],
    'me.out': ['Salir', 'Sign out'],
    'backup.title': ['Copia de seguridad', 'Backup'],
    'backup.why': [
      'Tu clave vive sólo en este navegador. Si lo borrás o se rompe el equipo, la perdés. Guardá este archivo en otro lado: se abre con tu PIN.',
      'Your key lives in this browser alone. If you clear it or the device breaks, it is gone. Keep this file elsewhere: your PIN opens it.',
    ],
    'backup.save': ['Guardar la copia', 'Save the backup'],
    'backup.done': ['Ya la guardé', 'I have saved it'],
    'backup.show': ['La copia como texto y como QR', 'The backup as text and as a QR'],
    'backup.qr': ['QR de tu copia', 'QR of your backup'],
    'file.title': ['Copia de seguridad de tu clave', 'Backup of your key'],
    'file.what': [
      'Qué es: la clave con la que entrás al panel de Cuponera y manejás tus cupones. Está protegida con tu PIN.',
      'What it is: the key with which you sign in to the Cuponera panel and manage your coupons. Your PIN protects it.',
    ],
    'file.where': ['Dónde se abre: {address}', 'Where it opens: {address}'],
    'file.how': [
      'Cómo: tocá «Ya tengo una clave o una copia», abrí este archivo o pegá todo este texto, y poné el PIN que tenías cuando lo guardaste ({saved}).',
      'How: press “I have a key or a backup already”, open this file or paste this whole text, and enter the PIN you had when you saved it ({saved}).',
    ],
    'file.care': [
      'Cuidala: guardala lejos de ese equipo y no anotes el PIN acá. Sin el PIN no se abre, y nadie lo puede recuperar.',
      'Take care of it: keep it away from that device, and do not write the PIN here. Without the PIN it does not open, and nobody can recover it.',
    ],
    'file.key': ['Tu clave, protegida (no cambies nada):', 'Your key, protected (change nothing):'],
    'file.public': [
      'Tu identificador público, que no es secreto:',
      'Your public identifier, which is no secret:',
    ],

    'start.title': ['Primeros pasos', 'First steps'],
    'start.of': ['{done} de {all}', '{done} of {all} done'],
    'start.announce': ['Anunciate', 'Announce yourself'],
    'start.announce.why': [
      'Publicás con tu firma dónde se emiten y canjean tus cupones. Así cualquier caja te encuentra.',
      'Publish under your signature where your coupons are issued and redeemed, so any till can find you.',
    ],
    'start.announce.do': ['Firmar y anunciar', 'Sign and announce'],
    'start.announce.warned': [
      'Se anunció, pero hay algo para revisar con quien opera el servicio: {found}',
      'It was announced, but there is something to check with whoever runs the service: {found}',
    ],
    'start.announce.https': [
      'Este servicio se abre por http y sin dirección pública configurada, y un anuncio necesita https. Podés seguir igual: tus cajas funcionan sin anuncio. Quien opera el servicio puede configurar TLS o PUBLIC_URL.',
      'This service is open on http without a configured public address, and an announcement needs https. You can go on: your own tills work without it. Whoever runs the service can set up TLS or PUBLIC_URL.',
    ],
    'start.create': ['Creá tu primer cupón', 'Create your first coupon'],
    'start.create.why': [
      'Un 2x1, un descuento, un regalo: lo armás en tres pasos.',
      'Two for one, a discount, a gift: three steps.',
    ],
    'start.create.do': ['Crear un cupón', 'Create a coupon'],
    'start.mint': ['Entregá uno', 'Hand one over'],
    'start.mint.why': [
      'Sale un QR en pantalla: escanealo con tu teléfono, como si fueras tu cliente.',
      'A QR shows: scan it with your phone, as your customer would.',
    ],
    'start.mint.do': ['Emitir uno', 'Issue one'],
    'start.redeem': ['Canjealo', 'Redeem it'],
    'start.redeem.why': [
      'Abrí la caja y escaneá el cupón del teléfono. Acá lo vas a ver al instante.',
      'Open the till and scan the coupon on the phone. You will see it here at once.',
    ],
    'start.redeem.do': ['Abrir la caja', 'Open the till'],
    'start.done': ['hecho', 'done'],
    'start.all': ['¡Listo! Tu negocio ya tiene cupones.', 'Done! Your shop has coupons.'],
    'start.announce.again': ['Anunciarme de nuevo', 'Announce again'],
    'start.announce.withdraw': ['Retirar el anuncio', 'Withdraw the announcement'],
    'start.announce.withdrawn': [
      'Anuncio retirado: ya no lo volvemos a enviar.',
      'Withdrawn: we send it out no more.',
    ],
    'relay.pending': ['en camino', 'on its way'],
    'relay.delivered': ['llegó', 'arrived'],
    'relay.refused': ['no lo aceptó', 'refused'],
    'relay.expired': ['no llegó', 'did not arrive'],

    'relay.own': ['El relay de este servicio', 'The relay of this service'],
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
      'What happens at your tills shows here at once.',
    ],
    'now.minted': [
      'Se emitió «{name}»|Se emitieron {n} de «{name}»',
      '“{name}” was issued|{n} of “{name}” were issued',
    ],
    'now.claimed': ['Se canjeó «{name}»', '“{name}” was redeemed'],
    'now.refreshed': ['«{name}» pasó a otra mano', '“{name}” moved on'],
    'now.voided': [
      'Se anuló «{name}»|Se anularon {n} de «{name}»',
      '“{name}” was voided|{n} of “{name}” were voided',
    ],
    'now.coupon': ['Cambió «{name}»', '“{name}” was changed'],
  },
  commonWords,
)
