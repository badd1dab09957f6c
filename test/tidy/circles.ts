/** No folder of src imports another in a circle; types count, and each room is a folder of its own. */
import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { isFile, localImports } from './tree.ts'

test('no folder imports another in a circle', () => {
  expect(circlesOf(foldersImported())).toEqual([])
})

test('a circle is found, however many folders it goes through', () => {
  const graph = new Map([
    ['a', new Set(['b', 'd'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a', 'd'])],
    ['d', new Set<string>()],
  ])
  expect(circlesOf(graph)).toEqual(['a → b', 'b → c', 'c → a'])
})

type Graph = Map<string, Set<string>>

/** The folders that each folder imports. */
function foldersImported(): Graph {
  const graph: Graph = new Map()
  for (const { from, target, late } of localImports()) {
    const [importer, imported] = [dirname(from), dirname(target)]
    if (importer === imported || !isFile(target)) continue
    // The check of the second engine is loaded only where there is a server.
    if (late && from === 'src/db/maintenance.ts' && imported === 'src/db/postgres') continue
    graph.set(importer, (graph.get(importer) ?? new Set()).add(imported))
  }
  return graph
}

/** Every import that leads back to its own folder, through whatever others. */
function circlesOf(graph: Graph): string[] {
  return [...graph]
    .flatMap(([from, targets]) =>
      [...targets].filter((to) => reachedFrom(graph, to).has(from)).map((to) => `${from} → ${to}`),
    )
    .sort()
}

function reachedFrom(graph: Graph, start: string): Set<string> {
  const reached = new Set([start])
  for (const folder of reached) for (const next of graph.get(folder) ?? []) reached.add(next)
  return reached
}
