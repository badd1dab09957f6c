import { useMemo } from 'preact/hooks'
import { encodeQR } from 'qr'

type Props = {
  text: string
  label: string
  /** Less error correction, so that a long text gets larger modules. */
  dense?: boolean
}

/** White border that scanners need, in modules (ISO/IEC 18004). */
const quietZone = 4

/** A QR code, black on white in every theme: many scanners read no inverted code. */
export function QrCode({ text, label, dense = false }: Props) {
  const { size, path } = useMemo(() => drawQr(text, dense ? 'low' : 'medium'), [text, dense])
  return (
    <div class="qr">
      <svg
        viewBox={[-quietZone, -quietZone, size + 2 * quietZone, size + 2 * quietZone].join(' ')}
        shape-rendering="crispEdges"
        role="img"
        aria-label={label}
      >
        <path d={path} fill="currentColor" />
      </svg>
    </div>
  )
}

/** The dark modules as one SVG path, one unit a module. */
export function drawQr(
  text: string,
  ecc: 'low' | 'medium' = 'medium',
): { size: number; path: string } {
  // The encoder needs a border of at least one; the caller adds the quiet zone.
  const framed = encodeQR(text, 'raw', { border: 1, ecc })
  const rows = framed.slice(1, -1).map((row) => row.slice(1, -1))
  const runs = rows.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return { size: rows.length, path: runs.join('') }
}
