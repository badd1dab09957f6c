/** The words that open the second copy of a key. */
import { expect, test } from 'bun:test'
import { wordlist } from '@scure/bip39/wordlists/spanish.js'
import { mistypedWord, newWords, passwordOf } from '../../src/client/recovery-words.ts'

test('six words of the list, new ones each time', () => {
  const known = new Set(wordlist.map((word) => word.normalize('NFC')))
  const drawn = Array.from({ length: 200 }, newWords)
  for (const words of drawn) {
    expect(words).toHaveLength(6)
    for (const word of words) expect(known).toContain(word)
  }
  expect(new Set(drawn.map((words) => words.join(' '))).size).toBe(200)
  // Drawn from the whole list: a fault in the arithmetic would leave out much of it.
  expect(new Set(drawn.flat()).size).toBeGreaterThan(700)
})

test('no two words of the list look alike without their accents', () => {
  const plain = wordlist.map((word) => word.normalize('NFD').replace(/\p{M}/gu, ''))
  expect(new Set(plain).size).toBe(2048)
})

test('words count without case, accents, numbering and spacing; other passwords as they stand', () => {
  const phrase = 'ábaco niño zurdo árbol útil añejo'
  const typed = [
    phrase,
    'abaco nino zurdo arbol util anejo',
    ' Ábaco, Niño; ZURDO\n árbol  útil\tAñejo. ',
    '1. ábaco 2. niño 3. zurdo 4. árbol 5. útil 6. añejo',
    phrase.normalize('NFD'),
  ]
  for (const text of typed) expect(passwordOf(text)).toBe(phrase)
  const other = ['', 'ábaco niño', `${phrase} ábaco`, 'Mi perro se llama Toto 7', '246810']
  for (const text of other) expect(passwordOf(text)).toBe(text)
})

test('a mistyped word is named', () => {
  expect(mistypedWord('abaco nino zurdo arbol utilll anejo')).toBe('utilll')
  const fine = ['abaco nino zurdo arbol util anejo', 'abaco nino', 'una frase de seis palabras mia']
  for (const text of fine) expect(mistypedWord(text)).toBeNull()
})
