/** The links of the documentation. */
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { allFiles, readText, root } from './tree.ts'

test('every link inside the documentation leads somewhere', () => {
  const pages = ['README.md', ...allFiles.filter((path) => /^docs\/.*\.md$/.test(path))]
  const broken = pages.flatMap((page) =>
    linksOf(readText(page))
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )
  expect(broken).toEqual([])
})

function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, '')
}

/** Targets of links and pictures that stay inside the repository. */
function linksOf(markdown: string): string[] {
  const prose = withoutCode(markdown).replace(/`[^`\n]*`/g, '')
  const inline = prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)
  const references = prose.matchAll(/^\[[^\]]+\]:\s+<?([^\s>]+)/gm)
  return [...inline, ...references]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), decodeURIComponent(file))
  if (relative('.', target).startsWith('..') || !existsSync(join(root, target))) return false
  if (anchor === undefined) return true
  return target.endsWith('.md') && anchorsOf(readText(target)).has(decodeURIComponent(anchor))
}

/** The anchors that a code host gives to headings, and those written by hand. */
function anchorsOf(markdown: string): Set<string> {
  const prose = withoutCode(markdown)
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const [, heading = ''] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replace(/ /g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  for (const [, id = ''] of prose.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}
