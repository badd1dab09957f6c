import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

type Props = {
  /** Its path, or null where the shop has none. */
  path: string | null
  /** In place of a logo. */
  icon: IconName
  size?: number
}

/** The logo of a shop. One that does not load leaves the icon, as without a connection. */
export function ShopLogo({ path, icon, size = 24 }: Props) {
  const [lost, setLost] = useState<string | null>(null)
  if (path === null || path === lost) return <Icon name={icon} size={size} />
  return <img class="logo" src={path} alt="" onError={() => setLost(path)} />
}
