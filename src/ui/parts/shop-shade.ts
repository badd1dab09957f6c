import type { ShopColor } from '../../shops/color.ts'

/** The lighter and the darker end of each colour. White text is legible on both, in either theme. */
export const shopShades: Readonly<Record<ShopColor, readonly [lighter: string, darker: string]>> = {
  green: ['#13765c', '#0a5241'],
  teal: ['#0f6e7c', '#0a4c57'],
  blue: ['#1f5fae', '#163f78'],
  violet: ['#6a48b0', '#48307c'],
  pink: ['#a8327a', '#762054'],
  red: ['#b23038', '#7c1f26'],
  brown: ['#86552a', '#5a381b'],
  graphite: ['#545b64', '#363b42'],
}

/** The background of a coupon of this colour. Undefined leaves that of the page. */
export function worthOf(color: ShopColor | null): string | undefined {
  return color ? `linear-gradient(150deg, ${shopShades[color].join(', ')})` : undefined
}
