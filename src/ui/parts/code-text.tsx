import { typedGroups } from '../../client/typed-code.ts'

type Props = { nonce: string }

/** The code in groups, of which none is broken at the end of a line. */
export function CodeText({ nonce }: Props) {
  const groups = typedGroups(nonce)
  return (
    <p class="code-text mono" translate={false}>
      {groups === null ? nonce : groups.map((group) => [<span>{group}</span>, ' '])}
    </p>
  )
}

/** The typed form; a code of another service that has none stands for itself. */
export function codeTextOf(nonce: string): string {
  return typedGroups(nonce)?.join(' ') ?? nonce
}
