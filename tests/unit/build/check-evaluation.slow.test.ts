/** A build imports each module of the table once, as the server will. */
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { packFiles } from './fake-packages.ts'
import { buildFault, copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const PACKAGES = {
  ...packFiles('widget', { main: 'index.js' }, { 'index.js': `exports.width = window.innerWidth` }),
  ...packFiles('plain', { type: 'module', main: 'index.js' }, { 'index.js': `export const plain = 'plain'` }),
  ...packFiles('halved', { main: 'index.js' }, { 'index.js': `exports.half = require('other-half')` }),
  ...packFiles('unready', { main: 'index.js' }, { 'index.js': `throw new Error('no licence key')` }),
}

/** The project's package.json with these as dependencies: the runtime of the fixture is imported by the project's own name. */
const MANIFEST = JSON.stringify({
  name: 'millrace',
  type: 'module',
  exports: {
    '.': { 'millrace-source': './src/client/index.ts' },
    './server': { 'millrace-source': './src/server/index.ts' },
    './internal/action-reference': { 'millrace-source': './src/client/actions/action-reference.ts' },
  },
  dependencies: { widget: '*', plain: '*', halved: '*', unready: '*' },
})

function withModule(file: string, code: string): Record<string, string> {
  return { ...PACKAGES, [file]: code, 'package.json': MANIFEST }
}

const LOADER = 'src/app/home.server.ts'
const PAGE = 'src/app/home-page.tsx'

/** The table, whose home page is sent before its loader is done. */
const EARLY = {
  'src/app/routes.ts': `import { defineRoutes } from 'millrace'
export const routes = defineRoutes({
  '/plain': { page: () => import('./home-page.tsx'), loader: () => import('./home.server.ts') },
  '/': { shell: 'early', loading: () => import('./card.tsx'), page: () => import('./home-page.tsx'), loader: () => import('./home.server.ts') },
})`,
  'src/app/card.tsx': 'export default () => <i>…</i>',
}

test.for([
  [
    'of an early page needs what its loader returns or decides',
    { ...EARLY, [LOADER]: `export const guards = true\nexport const loader = () => 1` },
    { [PAGE]: `export const metadata = () => ({ title: 'x' })\nexport default () => <p />` },
    [
      `${PAGE}, the page of '/', exports \`metadata\` as a function`,
      "Remove shell: 'early', or export constant metadata.",
      `The same check fails for ${LOADER}.`,
    ],
  ],
  [
    'needs a browser',
    { ...withModule('src/app/map.tsx', `import { width } from 'widget'\nexport const Map = () => <p>{width}</p>`) },
    { [PAGE]: `import { Map } from './map.tsx'\nexport default () => <Map />` },
    [
      `${PAGE}, the page of '/', cannot be loaded by the server:`,
      'ReferenceError: window is not defined',
      `  ${PAGE}\n  → src/app/map.tsx\n  → widget`,
      'Keep widget off the server',
      '<ClientOnly>',
    ],
  ],
  [
    'has no such name',
    withModule(LOADER, `import { gone } from 'plain'\nexport const loader = () => gone`),
    {},
    [`${LOADER}, the loader of '/'`, 'gone', `  ${LOADER}\n  → plain`, 'Import what plain exports'],
  ],
  [
    'needs what is not installed',
    withModule(LOADER, `import { half } from 'halved'\nexport const loader = () => half`),
    {},
    [`  ${LOADER}\n  → halved`, 'npm install other-half.'],
  ],
  [
    'throws while it is loaded',
    withModule(LOADER, `import 'unready'\nexport const loader = () => 1`),
    {},
    ['Error: no licence key', `  ${LOADER}\n  → unready`, `await import('unready')`],
  ],
  [
    'is of the project, and misses a setting',
    withModule(
      'src/app/key.server.ts',
      `if (!process.env.NO_SUCH_KEY) throw new Error('NO_SUCH_KEY is missing')\nexport const key = 1`,
    ),
    { [LOADER]: `import { key } from './key.server.ts'\nexport const loader = () => key` },
    ['Error: NO_SUCH_KEY is missing', `  ${LOADER}\n  → src/app/key.server.ts`, 'set it for the build, too'],
  ],
  [
    'ends the process',
    withModule(LOADER, `process.exit(3)\nexport const loader = () => 1`),
    {},
    [`${LOADER}, the loader of '/'`, 'its process ended early, with exit code 3'],
  ],
] as const)(
  'a module that %s stops the build, with the imports that lead to it and a way out',
  async ([, files, more, texts]) => {
    const fault = await buildFault({ ...files, ...more })
    for (const text of texts) expect(fault).toContain(text)
    expect(fault.split('\n').length).toBeLessThan(12)
  },
)

test('what a module leaves running ends with the build', async () => {
  await using project = await copyProject({
    [LOADER]: `setInterval(() => {}, 1000)\nvoid Promise.reject(new Error('later'))\nexport const loader = () => 1`,
  })
  await expect(buildApplication(project.options, {})).resolves.toBeDefined()
})
