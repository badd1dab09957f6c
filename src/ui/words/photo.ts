import { createWords } from './words.ts'

/** Sentences about photos that a merchant uploads. */
export const photoWords = createWords({
  'photo.title': ['Foto (opcional)', 'Photo (optional)'],
  'photo.upload': ['Subir foto', 'Upload a photo'],
  'photo.take': ['Sacar foto', 'Take a photo'],
  'photo.remove': ['Quitar la foto', 'Remove the photo'],
  'photo.hint': [
    'La achicamos en este equipo y le sacamos los datos ocultos, como el lugar donde la sacaste.',
    'We shrink it on this device and remove its hidden details, such as where you took it.',
  ],
  'photo.shown': ['La foto elegida', 'The chosen photo'],
  'photo.unreadable': [
    'Tu navegador no puede abrir esa foto. Si es HEIC, de un iPhone, guardala como JPG o PNG y subila de nuevo.',
    'Your browser cannot open that photo. If it is a HEIC, from an iPhone, save it as a JPG or PNG and upload it again.',
  ],
  'photo.other': ['Otra forma', 'Another way'],
})
