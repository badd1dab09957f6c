/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import type { Outline } from './outline.ts'
import type { Say } from './words.ts'

/** Everything that the views of the document share. */
export type Shown = {
  outline: Outline
  say: Say
  /** The address of the service in commands. */
  origin: string
  /** All of the document stands on one page: a model is a link, where else its fields open in place. */
  onePage: boolean
  /** Absent where no script runs. */
  onCopy?: (text: string) => void
}

type HeadingProps = { shown: Shown; children: ComponentChildren }

/** The name of a chapter: the first heading of its view, or one below the title of the one page. */
export function ChapterTitle({ shown, children }: HeadingProps) {
  return shown.onePage ? <h2>{children}</h2> : <h1>{children}</h1>
}

/** The name of an operation or a model, which is a view, or stands in a chapter of the one page. */
export function ItemTitle({ shown, children }: HeadingProps) {
  return shown.onePage ? <h3>{children}</h3> : <h1>{children}</h1>
}

/** The name of a part of one of those. */
export function PartTitle({ shown, children }: HeadingProps) {
  return shown.onePage ? <h4>{children}</h4> : <h2>{children}</h2>
}

/** A text whose `code` is marked. An operation in it becomes a link. */
export function Prose({ text, outline }: { text: string; outline: Outline }) {
  const parts = text.split('`')
  return (
    <>
      {parts.map((part, at) => {
        // Text and code take turns.
        if (at % 2 === 0) return part
        const [method, path] = part.split(' ')
        const entry = [...outline.entries.values()].find(
          (one) => one.method === method && one.path === path,
        )
        const code = <code key={at}>{part}</code>
        return entry ? (
          <a key={at} href={`#${entry.id}`}>
            {code}
          </a>
        ) : (
          code
        )
      })}
    </>
  )
}

/** Paragraphs and lists of a description. */
export function Paragraphs({ text, outline }: { text: string; outline: Outline }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) =>
        paragraph.startsWith('- ') ? (
          <ul key={paragraph} class="points">
            {paragraph.split('\n').map((line) => (
              <li key={line}>
                <p>
                  <Prose text={line.slice('- '.length)} outline={outline} />
                </p>
              </li>
            ))}
          </ul>
        ) : (
          <p key={paragraph}>
            <Prose text={paragraph} outline={outline} />
          </p>
        ),
      )}
    </>
  )
}

/** Method and path. The path may break after its slashes. */
export function Route({ method, path }: { method: string; path: string }) {
  const parts = path.split(/(?<=\/)/)
  return (
    <>
      <span class={`method ${method.toLowerCase()}`}>{method}</span>{' '}
      <code class="path">{parts.map((part, at) => [at > 0 && <wbr key={at} />, part])}</code>
    </>
  )
}
