/** A text of about so many characters, and at most as many. */
export type Shape = (chars: number) => string

const nested = (open: string, middle: string, close: string): Shape => {
  return (chars) => {
    const levels = Math.floor((chars - middle.length) / (open.length + close.length))
    return open.repeat(levels) + middle + close.repeat(levels)
  }
}

const list = (open: string, item: (at: number) => string, close: string): Shape => {
  return (chars) => {
    const items = []
    let left = chars - open.length - close.length - item(0).length
    for (let at = 0; left > 0; at++) {
      const one = item(at)
      items.push(one)
      left -= one.length + 1
    }
    return open + items.join(',') + close
  }
}

const filled = (open: string, part: string, close: string): Shape => {
  return (chars) =>
    open + part.repeat(Math.floor((chars - open.length - close.length) / part.length)) + close
}

/** JSON values, each as large as it is asked to be, that cost a careless program more than reading them. */
export const jsonShapes: Record<string, Shape> = {
  'deep arrays': nested('[', '', ']'),
  'deep objects': nested('{"a":', '1', '}'),
  'deep objects in arrays': nested('[{"a":', '1', '}]'),
  'deep arrays, each with more': nested('[0,', '1', ',{}]'),
  'deep __proto__': nested('{"__proto__":', '1', '}'),
  'deep constructor.prototype': nested('{"constructor":{"prototype":', '1', '}}'),
  'a wide array of numbers': list('[', () => '0', ']'),
  'a wide array of arrays': list('[', () => '[]', ']'),
  'a wide array of objects': list('[', () => '{}', ']'),
  'a wide array of texts': list('[', (at) => `"${at}"`, ']'),
  'many keys': list('{', (at) => `"k${at}":0`, '}'),
  'many numbers as keys': list('{', (at) => `"${at * 1_000_003}":0`, '}'),
  'many keys of one length': list('{', (at) => `"${String(at).padStart(8, '0')}":[]`, '}'),
  'duplicate keys': list('{', () => '"a":{"b":[0]}', '}'),
  'names of prototypes as keys': list(
    '{',
    (at) => `"${['__proto__', 'constructor', 'toString', 'toJSON', 'length'][at % 5]}":{}`,
    '}',
  ),
  'one long text': filled('"', 'a', '"'),
  'one long key': filled('{"', 'a', '":0}'),
  'a text of spaces': filled('"x', ' ', 'x"'),
  'a text of commas': filled('"x', ',', 'x"'),
  'a text of escapes': filled('"', '\\u0000', '"'),
  'a text of backslashes': filled('"', '\\\\', '"'),
  'a text of combining marks': filled('"e', '\\u0301', '"'),
  'lone surrogates': filled('"', '\\ud800', '"'),
  'surrogates the wrong way round': filled('"', '\\udc00\\ud800', '"'),
  'a long number': filled('', '9', ''),
  'a long fraction': filled('0.', '0', '1'),
  'a huge exponent': filled('1e', '9', ''),
  'a huge negative exponent': filled('-1e-', '9', ''),
  'many long numbers': list('[', () => `${'9'.repeat(300)}.${'9'.repeat(20)}e-280`, ']'),
}

/** Texts that are no JSON, or end too soon. */
export const brokenShapes: Record<string, Shape> = {
  'open arrays': filled('', '[', ''),
  'open objects': filled('', '{"a":', ''),
  'open arrays in a key': filled('{"a":', '[', ''),
  'an open text': filled('{"a":"', 'a', ''),
  'an open text of quotes': filled('{"a":"', '\\"', ''),
  'spaces only': filled('', ' ', ''),
  'line ends only': filled('', '\r\n', ''),
  'spaces in an object': filled('{', ' ', '}'),
  'brackets that do not match': filled('', '[}', ''),
  'commas only': filled('[', ',', ']'),
  'bytes that are no text': filled('{"a":"', 'ÿ', '"}'),
}

/** Characters that lists and parameters are split at, and that decoders pad with. */
const separators = [' ', '\t', ',', ';', '/', '.', '"', '=', '%', '-', ':', '@', '&', '+']
const mixed = [' ,', '; ', 'a,', 'a ', 'q=0,', '%2', 'W/"",']

/**
 * Texts for one line of a header or a parameter: long runs of what it may be split at, bare and
 * between letters, where trimming does not help.
 */
export const lineShapes: Record<string, Shape> = Object.fromEntries(
  [...separators, ...mixed].flatMap((run) => {
    const between = [`${JSON.stringify(run)} between letters`, filled('x', run, 'x')]
    const bare = [`only ${JSON.stringify(run)}`, filled('', run, '')]
    return run.length === 1 ? [between, bare] : [between]
  }),
)
