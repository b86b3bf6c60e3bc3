import type { Metafile } from 'esbuild'
import { expect, test } from 'vitest'
import { actionSegments } from '../../../scripts/build/output/action-segments.ts'

const ACTIONS = 'action-references:app/actions.server.ts'

function inputs(imports: Readonly<Record<string, readonly string[]>>): Metafile {
  const entries = Object.entries(imports).map(([key, paths]) => [
    key,
    {
      bytes: 1,
      imports: paths.map((path) => {
        const lazy = path.startsWith('lazy ')
        return { path: path.replace('lazy ', ''), kind: lazy ? 'dynamic-import' : 'import-statement' }
      }),
    },
  ])
  return { inputs: Object.fromEntries(entries), outputs: {} }
}

const SOURCES = {
  '/': { layout: 'app/layout.tsx', page: 'app/home.tsx', loader: 'app/loader.server.ts' },
  '/form': { page: 'app/form-page.tsx' },
  '/lazy': { page: 'app/lazy-page.tsx' },
  '/feed': { handler: 'app/feed.server.ts' },
}
const IMPORTS = {
  'app/client.tsx': ['app/routes.ts', 'app/document.tsx'],
  'app/routes.ts': ['lazy app/home.tsx', 'lazy app/form-page.tsx', 'lazy app/lazy-page.tsx', 'lazy app/layout.tsx'],
  'app/form-page.tsx': ['app/form.tsx'],
  'app/lazy-page.tsx': ['lazy app/form.tsx'],
  'app/form.tsx': [ACTIONS],
}

test('a page has an action when a module that it imports does, now or later', () => {
  expect(actionSegments(inputs(IMPORTS), 'app/client.tsx', SOURCES)).toEqual(['/form#page', '/lazy#page'])
})

test('a layout has its own', () => {
  const imports = { ...IMPORTS, 'app/layout.tsx': ['app/layout.tsx', ACTIONS] }
  expect(actionSegments(inputs(imports), 'app/client.tsx', SOURCES)).toEqual(['/#layout', '/form#page', '/lazy#page'])
})

test('the document of all pages gives one to each of them', () => {
  const imports = { ...IMPORTS, 'app/document.tsx': ['app/form.tsx'] }
  const found = actionSegments(inputs(imports), 'app/client.tsx', SOURCES)
  expect(found).toEqual(['/#page', '/form#page', '/lazy#page'])
})
