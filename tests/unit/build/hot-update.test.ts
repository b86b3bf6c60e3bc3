import type { Metafile } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { moduleGraph, planUpdate } from '../../../scripts/dev/watch/hot-update.ts'

/** A metafile of modules by their imports. */
function metafile(modules: Readonly<Record<string, readonly string[]>>): Metafile {
  const inputs = Object.entries(modules).map(([key, paths]) => {
    const imports = paths.map((path) => ({ path, kind: 'import-statement' as const }))
    return [key, { bytes: 0, imports }] as const
  })
  return { inputs: Object.fromEntries(inputs), outputs: {} }
}

const graph = moduleGraph(
  metafile({
    'client.tsx': ['routes.ts'],
    'routes.ts': ['page.tsx', 'other.tsx'],
    'page.tsx': ['card.tsx', 'hook.ts', 'css-file:page.css'],
    'other.tsx': ['hook.ts'],
    'card.tsx': ['hook.ts'],
    'hook.ts': ['deep.ts'],
    'deep.ts': ['hook.ts'],
    'css-file:page.css': [],
  }),
)
const components = (key: string): boolean => ['page.tsx', 'other.tsx', 'card.tsx'].includes(key)

test('a module with actions stands for its references', () => {
  const withActions = moduleGraph(
    metafile({
      'page.tsx': ['action-references:actions.server.ts'],
      'action-references:actions.server.ts': ['action-reference.ts'],
      'action-reference.ts': [],
    }),
  )
  expect(withActions.has('actions.server.ts')).toBe(true)
  expect(withActions.importersOf('actions.server.ts')).toEqual(['page.tsx'])
  expect(withActions.importersOf('action-reference.ts')).toEqual(['actions.server.ts'])
})

describe('after a change', () => {
  test('a component is refreshed by itself', () => {
    expect(planUpdate(graph, ['card.tsx'], components)).toEqual({
      kind: 'update',
      accepted: ['card.tsx'],
      renewed: ['card.tsx'],
    })
  })

  test('what a hook has changed is refreshed in every component that uses it, also through others and in a circle', () => {
    const plan = planUpdate(graph, ['deep.ts'], components)
    expect(plan).toEqual({
      kind: 'update',
      accepted: ['page.tsx', 'other.tsx', 'card.tsx'],
      renewed: ['deep.ts', 'hook.ts', 'page.tsx', 'other.tsx', 'card.tsx'],
    })
  })

  test('a change that reaches the entry loads the document anew, and names where it got there', () => {
    expect(planUpdate(graph, ['routes.ts'], components)).toEqual({ kind: 'reload', reason: 'client.tsx' })
    expect(planUpdate(graph, ['page.tsx'], () => false).kind).toBe('reload')
  })

  test('a file that is in no page changes nothing', () => {
    expect(planUpdate(graph, ['elsewhere.ts'], components)).toEqual({ kind: 'update', accepted: [], renewed: [] })
  })
})
