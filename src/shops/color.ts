/**
 * Colours of a shop. The pages have a shade of each on which white text is legible. A closed set, so that no
 * shop can choose a colour that hides its own words.
 */
export const shopColors = [
  'green',
  'teal',
  'blue',
  'violet',
  'pink',
  'red',
  'brown',
  'graphite',
] as const

export type ShopColor = (typeof shopColors)[number]

export function isShopColor(value: unknown): value is ShopColor {
  return shopColors.some((color) => color === value)
}
