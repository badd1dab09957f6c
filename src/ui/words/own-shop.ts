import { createWords } from './words.ts'

/** Sentences of the panel about the merchant's own shop. */
export const ownShopWords = createWords({
  'shop.title': ['Tu negocio', 'Your shop'],
  'shop.name': ['¿Cómo se llama tu negocio?', 'What is your shop called?'],
  'shop.name.hint': [
    'Lo van a leer tus clientes en cada cupón.',
    'Your customers will read it on every coupon.',
  ],
  'shop.name.missing': ['Escribí el nombre de tu negocio.', 'Type the name of your shop.'],
  'shop.name.long': ['Usá hasta {n} letras.', 'Use at most {n} letters.'],
  'shop.name.strange': [
    'Ese nombre tiene letras que no se ven. Escribilo de nuevo.',
    'That name contains characters that cannot be seen. Type it again.',
  ],
  'shop.missing': ['Ponele nombre a tu negocio', 'Give your shop a name'],
  'shop.color': ['Color de tus cupones', 'Colour of your coupons'],
  'shop.logo': ['Logo de tu negocio (opcional)', 'Your shop’s logo (optional)'],
  'shop.save': ['Guardar los cambios', 'Save changes'],
  'shop.saved': ['Guardado.', 'Saved.'],
  'shop.later': [
    'Guardado acá. Sale al volver la conexión.',
    'Saved here. It is sent once we are back online.',
  ],
  'shop.unpublished': [
    'Tus clientes ya ven este nombre. A otras aplicaciones se lo pasamos la próxima vez que entres.',
    'Your customers already see this name. We will pass it on to other apps the next time you sign in.',
  ],
  'color.green': ['Verde', 'Green'],
  'color.teal': ['Turquesa', 'Teal'],
  'color.blue': ['Azul', 'Blue'],
  'color.violet': ['Violeta', 'Violet'],
  'color.pink': ['Fucsia', 'Magenta'],
  'color.red': ['Rojo', 'Red'],
  'color.brown': ['Marrón', 'Brown'],
  'color.graphite': ['Gris', 'Grey'],
})
