import { describe, expect, test } from 'vitest'
import { houseFaults, PUBLISHED_ENTRIES } from '../../../scripts/checks/house-rules.ts'
import PACKAGE from '../../../package.json' with { type: 'json' }

function faultsOf(path: string, ...lines: readonly string[]): string[] {
  return houseFaults([{ path, text: `${lines.join('\n')}\n` }])
}

describe('arrows of imports', () => {
  const allowed = [
    ['src/shared/href.ts', `import { x } from './route-pattern.ts'`],
    ['src/client/core/navigation/navigation.ts', `import { x } from '../../shared/href.ts'`],
    ['src/client/react/link.tsx', `import { useState } from 'react'`],
    ['src/server/api/define-app.ts', `import type { DocumentProps } from '../client/module-types.ts'`],
    ['src/server/api/define-app.ts', `import { type DocumentProps, type PageModule } from '../client/module-types.ts'`],
    ['src/server/render/tree.tsx', `import { RouteTree } from '../../client/react/route-tree.tsx'`],
    ['src/server/app.ts', `import { createServer } from 'node:http'`],
    ['src/app/app.ts', `import { defineApp } from 'millrace/server'`],
    ['src/app/page.tsx', `import { Link } from 'millrace'`],
    ['src/app/page.tsx', `import { isServer } from '../app/site/is-server.ts'`],
    ['templates/minimal/src/app/app.ts', `import { defineApp } from 'millrace/server'`],
    ['examples/sass/millrace.config.ts', `import { defineConfig } from 'millrace/build'`],
    ['examples/sass/src/app/page.tsx', `import './styles.scss'`],
    ['src/app/docs/page.tsx', `import { createSlugs } from 'millrace/internal/handbook'`],
    ['docs/routes.md', `import { Link } from 'millrace'`],
    ['docs/testing.md', `import { createApp } from '../../src/server/app.ts'`],
    ['tests/unit/x.test.ts', `import { x } from '../../src/server/app.ts'`],
  ] as const
  test.for(allowed)('%s may say: %s', ([path, line]) => {
    expect(faultsOf(path, line)).toEqual([])
  })

  const refused = [
    ['src/shared/href.ts', `import { x } from '../client/index.ts'`],
    ['src/shared/href.ts', `import type { x } from '../server/config.ts'`],
    ['src/client/index.ts', `export { x } from '../server/config.ts'`],
    ['src/client/index.ts', `export * from 'millrace/server'`],
    ['src/client/index.ts', `const x = await import('../app/app.ts')`],
    ['src/client/index.ts', `import '../app/app.ts'`],
    ['src/server/app.ts', `import { defineRoutes } from '../client/define-routes.ts'`],
    ['src/server/app.ts', `import { PageProps } from '../client/module-types.ts'`],
    ['src/server/app.ts', `import { type A, b } from '../client/module-types.ts'`],
    ['src/server/app.ts', `import { Link } from 'millrace'`],
    ['src/server/app.ts', `import app from '../app/app.ts'`],
    ['src/app/page.tsx', `import { x } from '../../tests/support/raw-http.ts'`],
    ['src/app/page.tsx', `import { Link } from '../client/react/link.tsx'`],
    ['src/app/page.tsx', `import type { Config } from '../server/config/config.ts'`],
    ['src/app/page.tsx', `import { actionReference } from 'millrace/internal/action-reference'`],
    ['src/client/index.ts', `import { hydrate } from 'millrace'`],
    ['src/app/page.tsx', `import { Link } from 'millrace/src/client/react/link.tsx'`],
    ['templates/application/src/app/page.tsx', `import { Link } from '../../../../src/client/index.ts'`],
    ['templates/minimal/src/app/page.tsx', `import { x } from '../../../application/src/app/x.ts'`],
    ['examples/mdx/src/app/page.tsx', `import { x } from 'millrace/internal/action-reference'`],
    ['examples/mdx/src/app/page.tsx', `import { x } from 'millrace/internal/handbook'`],
    ['examples/mdx/src/app/page.mdx', `import { x } from '../../../../src/server/app.ts'`],
    ['examples/mdx/millrace.config.ts', `import { aliasOf } from '../../scripts/build/resolve/customization.ts'`],
    ['docs/routes.md', `import { x } from 'millrace/internal/packages/pino'`],
    ['README.md', `const x = await import('millrace/lib/src/server/app.js')`],
  ] as const
  test.for(refused)('%s may not say: %s', ([path, line]) => {
    expect(faultsOf(path, line)).toHaveLength(1)
  })

  test('a fault names the file, its line, the import and the rule', () => {
    const text = ['// a comment', 'import {', '  one,', '  two,', `} from '../../server/config.ts'`]
    expect(faultsOf('src/client/core/x.ts', ...text)).toEqual([
      'src/client/core/x.ts:2: imports ../../server/config.ts; src/client imports src/shared and itself',
    ])
  })

  test('every public entry of the package is published, and nothing internal', () => {
    const entries = Object.keys(PACKAGE.exports).map((path) => `millrace${path.slice(1)}`)
    const open = entries.filter((entry) => !/^millrace\/(?:internal\/|package\.json$)/.test(entry))
    expect(open.filter((entry) => !PUBLISHED_ENTRIES.includes(entry))).toEqual([])
    expect(open.length).toBeGreaterThan(3)
  })

  test('imports in comments are no imports', () => {
    expect(
      faultsOf('src/shared/href.ts', `// import { x } from '../app/app.ts'`, ` * import('../app/app.ts')`),
    ).toEqual([])
  })
})

describe('state', () => {
  test('a let of a module is a fault, a let of a function is not', () => {
    expect(faultsOf('src/client/core/x.ts', 'let count = 0')).toHaveLength(1)
    expect(faultsOf('src/client/core/x.ts', 'export let count = 0')).toHaveLength(1)
    expect(faultsOf('src/client/core/x.ts', 'function f() {', '  let count = 0', '}')).toEqual([])
  })
})

describe('a form in the browser', () => {
  test('has no members of its own: its fields may hide them', () => {
    expect(faultsOf('src/client/core/x.ts', 'form.submit()')).toHaveLength(1)
    expect(faultsOf('src/client/core/x.ts', 'call(form?.isConnected)')).toHaveLength(1)
    expect(faultsOf('src/client/core/x.ts', "unhidden(form).submit(); import './form.ts'")).toEqual([])
    expect(faultsOf('src/server/x.ts', 'form.fields')).toEqual([])
  })
})

describe('functions of hooks', () => {
  const hook = (...lines: readonly string[]) =>
    faultsOf('src/client/hooks/use-x.ts', 'export function useX() {', ...lines, '}')

  test.each([
    ['in what a hook returns', ['  return { load: (href) => read(href) }']],
    ['in the lines of what it returns', ['  return [', '    search,', '    (next) => set(next),', '  ]']],
    ['of a name', ['  const load = (href: string): void => read(href)', '  return { load }']],
    ['declared', ['  function load() {}', '  return { load }']],
  ])('%s are a fault', (_, lines) => {
    expect(hook(...lines)).toHaveLength(1)
  })

  test('are kept by React’s hooks', () => {
    expect(
      hook(
        '  const load = useCallback((href: string) => read(href), [])',
        '  useEffect(() => {',
        '    const end = () => stop()',
        '    return () => end()',
        '  }, [])',
        '  return useMemo(() => ({ load, all: list.map((one) => one) }), [load])',
      ),
    ).toEqual([])
  })
})

describe('length', () => {
  const lines = (count: number): string[] => Array.from({ length: count }, () => '// line')

  test('400 lines are allowed, 401 are not, in any kind of source', () => {
    expect(faultsOf('src/a.ts', ...lines(400))).toEqual([])
    expect(faultsOf('tests/a.test.tsx', ...lines(401))).toHaveLength(1)
    expect(faultsOf('src/app/a.css', ...lines(401))).toHaveLength(1)
  })

  test('data may be as long as it likes', () => {
    expect(faultsOf('tests/fixtures/a.json', ...lines(401))).toEqual([])
  })
})
