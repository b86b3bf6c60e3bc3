import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { buildFault, copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'
const RULE = 'Server code would reach the browser'

/** A page that runs these statements. */
function page(statements: string): Record<string, string> {
  return { [PAGE]: `${statements}\nexport default function LabPage() {\n  return <p>The lab</p>\n}\n` }
}

test('a server module that a page imports over two others stops the build, with the whole chain, one file a line', async () => {
  const fault = await buildFault({
    ...page(`import { first } from './first.ts'\nfirst()`),
    'src/app/lab/first.ts': `export { second as first } from './second.ts'`,
    'src/app/lab/second.ts': `import { SECRET_TEXT } from '../home.server.ts'\nexport const second = () => SECRET_TEXT`,
  })
  expect(fault.split('\n').slice(0, 7)).toEqual([
    `${RULE}: src/app/home.server.ts is a *.server.* module.`,
    '  src/app/client.tsx',
    '  → src/app/routes.ts',
    '  → src/app/lab/page.tsx',
    '  → src/app/lab/first.ts',
    '  → src/app/lab/second.ts',
    '  → src/app/home.server.ts',
  ])
})

test.for([
  ['a static import', `import { loader } from '../home.server.ts'\nloader()`, 'src/app/home.server.ts'],
  ['an import for its effects', `import '../home.server.ts'`, 'src/app/home.server.ts'],
  ['a re-export', `export { loader } from '../home.server.ts'`, 'src/app/home.server.ts'],
  ['a dynamic import outside the table', `void import('../home.server.ts')`, 'src/app/home.server.ts'],
  [
    'the package import of the server',
    `import { defineApp } from 'millrace/server'\ndefineApp({})`,
    'src/server/index.ts',
  ],
  ['a file of src/server', `import { defineApp } from '../../server/index.ts'\ndefineApp({})`, 'src/server/index.ts'],
  ['a Node builtin', `import { readFileSync } from 'node:fs'\nreadFileSync('')`, 'node:fs'],
  ['a Node builtin by its short name', `import { readFileSync } from 'fs'\nreadFileSync('')`, 'fs'],
] as const)('%s of server code stops the build and is named', async ([, statements, culprit]) => {
  const fault = await buildFault(page(statements))
  expect(fault).toContain(`${RULE}: ${culprit} is `)
  expect(fault).toContain(`  → ${PAGE}\n  → ${culprit}\n`)
})

test('a package that needs a Node builtin is named, with the package in the chain', async () => {
  const fault = await buildFault({
    ...page(`import 'reads-files'`),
    'src/app/node_modules/reads-files/package.json': '{ "name": "reads-files", "main": "index.js" }',
    'src/app/node_modules/reads-files/index.js': `require('fs').readFileSync`,
  })
  expect(fault).toContain('  → src/app/node_modules/reads-files/index.js\n  → fs\n')
})

test('a package may have builtins empty in browsers, or put its own files in their places', async () => {
  await using project = await copyProject({
    ...page(`import parts from 'reads-files'\nglobalThis.parts = parts`),
    'src/app/node_modules/reads-files/package.json': JSON.stringify({
      name: 'reads-files',
      main: 'index.js',
      browser: { crypto: false, 'node:fs': false, 'node:os': './own-os.js' },
    }),
    'src/app/node_modules/reads-files/index.js': `
      module.exports = [require('crypto'), require('node:fs'), require('node:os')]`,
    'src/app/node_modules/reads-files/own-os.js': `module.exports = 'the package’s own'`,
  })
  await buildApplication(project.options, {})
  const files = (await project.list('dist/public')).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(files.map((file) => project.read(`dist/public/${file}`)))
  expect(texts.join('')).toContain('the package’s own')
})

test('a server module that has another name in an import, by the manifest of its folder, is named with the chain', async () => {
  const fault = await buildFault({
    ...page(`import { first } from './store'\nfirst()`),
    'src/app/lab/store/package.json': '{ "main": "db.server.ts" }',
    'src/app/lab/store/db.server.ts': `import { readFileSync } from 'node:fs'\nexport const first = () => readFileSync('')`,
  })
  expect(fault).toContain(`${RULE}: src/app/lab/store/db.server.ts is a *.server.* module.`)
  expect(fault).toContain(`  → ${PAGE}\n  → src/app/lab/store/db.server.ts\n`)
  expect(fault).not.toContain('node:fs')
})

test('several faults are told at once', async () => {
  const fault = await buildFault(page(`import 'node:fs'\nimport '../home.server.ts'`))
  expect(fault.match(new RegExp(RULE, 'g'))).toHaveLength(2)
})

test('what a table names of the server is one empty chunk, and nothing of it is in any file for browsers', async () => {
  await using project = await copyProject()
  const { manifest } = await buildApplication(project.options, {})
  const files = await project.list('dist/public')
  expect(files.filter((file) => file.includes('.server'))).toEqual([])
  expect(files.filter((file) => /^inert-\w+\.js$/.test(file))).toHaveLength(1)
  const texts = await Promise.all(
    ['dist/public', 'dist/maps'].map(async (folder) =>
      Promise.all((await project.list(folder)).map((file) => project.read(`${folder}/${file}`))),
    ),
  )
  expect(texts.flat().filter((text) => text.includes('canary-in-a-server-module'))).toEqual([])
  // No page needs it; only the list of what scripts must be has it, as it has every file.
  expect(JSON.stringify({ ...manifest, integrity: {} })).not.toContain('inert')
  const onServer = await Promise.all(
    (await project.list('dist/server')).map((file) => project.read(`dist/server/${file}`)),
  )
  expect(onServer.join('')).toContain('canary-in-a-server-module')
})
