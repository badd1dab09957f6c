/** Strokes on a grid of 24, drawn for this project. */
const paths = {
  ticket: 'M4 6h16v4a2 2 0 0 0 0 4v4H4v-4a2 2 0 0 0 0-4zM14 6v2m0 3v2m0 3v2',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7',
  warning: 'M12 4l9 16H3zM12 10v4m0 3v.01',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5m0-8.5v.01',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.5 1.5m11 11L19 19M5 19l1.5-1.5m11-11L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2m4-2v6h-6v-2m3 0v.01',
  camera: 'M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  share: 'M12 15V4m0 0L8 8m4-4l4 4M5 13v6h14v-6',
  chat: 'M4 5h16v11h-8l-5 4v-4H4zM8 9h8M8 12h5',
  print: 'M7 9V4h10v5M7 17H4v-8h16v8h-3M7 14h10v6H7z',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9v.01',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  copy: 'M9 9h11v11H9zM15 5H4v11h1',
  key: 'M8 12a4 4 0 1 0 0 .01zM12 12h9m-3 0v3m-3-3v2',
  phone: 'M7 3h10v18H7zM11 18h2',
  puzzle: 'M9 4a2 2 0 0 1 4 0v2h5v5h-2a2 2 0 0 0 0 4h2v5H4V6h5z',
  people:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2 20a7 7 0 0 1 14 0M16 5.5a3.5 3.5 0 0 1 0 6M18 14a7 7 0 0 1 4 6',
  chart: 'M4 20h16M7 16v-4m5 4V6m5 10v-7',
  list: 'M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01',
  exit: 'M10 4H5v16h5M9 12h11m0 0l-4-4m4 4l-4 4',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  settings:
    'M4 7h9m5 0h2M15.5 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM4 17h2m5 0h9M8.5 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  archive: 'M3 5h18v4H3zM5 9v10h14V9M10 13h4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5m4-5v5',
  stop: 'M8 3h8l5 5v8l-5 5H8l-5-5V8zM8 12h8',
  back: 'M19 12H5m0 0l6-6m-6 6l6 6',
  next: 'M9 5l7 7-7 7',
  download: 'M12 4v11m0 0l-4-4m4 4l4-4M4 19h16',
  send: 'M4 12L20 4l-5 16-4-6z',
  bolt: 'M13 2L5 14h6l-1 8 8-12h-6z',
  shop: 'M4 10v10h16V10M3 10l2-6h14l2 6a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0zM10 20v-6h4v6',
  sound: 'M4 10v4h4l5 4V6L8 10zM16 9a4 4 0 0 1 0 6m2.5-8.5a8 8 0 0 1 0 11',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
} as const

export type IconName = keyof typeof paths

type Props = { name: IconName; size?: number }

/** A decoration, hidden from screen readers: a text beside it has its meaning. */
export function Icon({ name, size = 20 }: Props) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  )
}
