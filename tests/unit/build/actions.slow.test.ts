import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test, vi } from 'vitest'
import { requireOwnIds } from '../../../scripts/build/sides/action-faults.ts'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { buildFault, copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const ACTIONS = 'src/app/lab/actions.server.ts'
const IMPORT = `import { action } from 'millrace/server'\n`

/** A module that exports actions of these names. */
function declare(...names: readonly string[]): string {
  return IMPORT + names.map((name) => `export const ${name} = action({ handler: () => '${name}' })\n`).join('')
}

/** A page that runs these statements. */
function page(statements: string): Record<string, string> {
  return { 'src/app/lab/page.tsx': `${statements}\nexport default function LabPage() {\n  return <p>The lab</p>\n}\n` }
}

async function textsOf(project: FixtureProject, ...folders: readonly string[]): Promise<string> {
  const files = await Promise.all(
    folders.map(async (folder) => (await project.list(folder)).map((file) => `${folder}/${file}`)),
  )
  const texts = files.flat().filter((file) => /\.(?:js|map|json)$/.test(file))
  return (await Promise.all(texts.map(project.read))).join('\n')
}

/** Starts a built server and asks it. */
async function ask(project: FixtureProject, path: string): Promise<string> {
  const server = spawn(process.execPath, [join(project.options.out, 'server/main.js')], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [listening = ''] = await once(createInterface({ input: server.stdout }), 'line')
    return await (await fetch(`${/http:\S+/.exec(listening)?.[0]}${path}`)).text()
  } finally {
    server.kill('SIGKILL')
    await once(server, 'close')
  }
}

describe('in the browser', () => {
  test('an action is a reference; its handler, its schema and what they import are in no file', async () => {
    await using project = await copyProject()
    await buildApplication(project.options, {})
    const inBrowser = await textsOf(project, 'dist/public', 'dist/maps')
    expect(inBrowser).toContain(actionId('lab/actions.server.ts', 'sign'))
    expect(inBrowser).not.toMatch(/canary-|ZodObject|node:os/)
    const onServer = await textsOf(project, 'dist/server')
    for (const canary of ['in-a-handler', 'in-a-schema', 'behind-an-action'])
      expect(onServer).toContain(`canary-${canary}`)
  })

  test('an action costs a few bytes, and only where a page uses it', async () => {
    const sizes: number[] = []
    for (const used of [['sign'], ['sign', 'remove'], ['sign', 'remove', 'flag']]) {
      await using project = await copyProject({
        [ACTIONS]: declare('sign', 'remove', 'flag', 'unused'),
        ...page(`import { ${used.join(', ')} } from './actions.server.ts'\nconsole.log(${used.join(', ')})`),
      })
      await buildApplication(project.options, {})
      const scripts = await textsOf(project, 'dist/public')
      expect(scripts).not.toContain(actionId('lab/actions.server.ts', 'unused'))
      sizes.push(Buffer.byteLength(scripts))
    }
    const [one = 0, two = 0, three = 0] = sizes
    expect(two - one).toBeLessThan(80)
    expect(three - two).toBeLessThan(80)
    expect(three - two).toBeGreaterThan(0)
  })

  test.for([
    ['a static import', `import { sign } from './actions.server.ts'\nconsole.log(sign)`],
    ['a re-export', `export { sign } from './actions.server.ts'`],
    ['all of its names', `import * as actions from './actions.server.ts'\nconsole.log(Object.keys(actions))`],
    ['a dynamic import', `void import('./actions.server.ts').then(({ sign }) => sign(null, new FormData()))`],
    ['a way over another module', `import { sign } from './form.ts'\nconsole.log(sign)`],
  ] as const)('%s of an actions.server.ts gives references', async ([, statements]) => {
    await using project = await copyProject({
      'src/app/lab/form.ts': `export { sign } from './actions.server.ts'`,
      // Without its own use in the layout: what is found comes from these statements.
      'src/app/lab/layout.tsx': 'export default () => null',
      ...page(statements),
    })
    await buildApplication(project.options, {})
    const inBrowser = await textsOf(project, 'dist/public', 'dist/maps')
    expect(inBrowser).toContain(actionId('lab/actions.server.ts', 'sign'))
    expect(inBrowser).not.toContain('canary-')
  })

  test('an action may have a name that no variable can have', async () => {
    await using project = await copyProject({
      [ACTIONS]: `${IMPORT}const remove = action({ handler: () => 1 })\nexport { remove as delete }`,
      ...page(`import { delete as remove } from './actions.server.ts'\nconsole.log(remove)`),
      'src/app/lab/layout.tsx': 'export default () => null',
    })
    await buildApplication(project.options, {})
    expect(await textsOf(project, 'dist/public')).toContain(actionId('lab/actions.server.ts', 'delete'))
  })

  test('a name that the module does not export stops the build', async () => {
    const fault = await buildFault(page(`import { sing } from './actions.server.ts'\nconsole.log(sing)`))
    expect(fault).toContain('No matching export in')
    expect(fault).toContain('"sing"')
  })

  test('a name of a module that exports nothing stops the build, and is named by its source', async () => {
    const fault = await buildFault({
      [ACTIONS]: `${IMPORT}const sing = action({ handler: () => 1 })\nconsole.log(sing)`,
      ...page(`import { sing } from './actions.server.ts'\nconsole.log(sing)`),
    })
    expect(fault).toContain('No matching export in "src/app/lab/actions.server.ts" for import "sing"')
  })

  test.for([
    [
      'outside of the application',
      'src/forms/actions.server.ts',
      `'../../forms/actions.server.ts'`,
      'move sign to src/app/actions.server.ts',
    ],
    [
      'of another ending',
      'src/app/lab/actions.server.tsx',
      `'./actions.server.tsx'`,
      'move sign to src/app/lab/actions.server.ts',
    ],
    [
      'of another name',
      'src/app/lab/my-actions.server.ts',
      `'./my-actions.server.ts'`,
      'move sign to src/app/lab/actions.server.ts',
    ],
  ] as const)(
    'the wall refuses a file with actions %s, and names the file where they belong',
    async ([, file, specifier, wayOut]) => {
      const fault = await buildFault({
        [file]: declare('sign'),
        ...page(`import { sign } from ${specifier}\nconsole.log(sign)`),
      })
      expect(fault).toContain(`Server code would reach the browser: ${file} is a *.server.* module.`)
      expect(fault).toContain(`${file} has actions: ${wayOut}`)
    },
  )

  test('an action in a page is refused in one message, which names the file where it belongs', async () => {
    const fault = await buildFault(
      page(`${IMPORT}import { readFileSync } from 'node:fs'
export const sign = action({ handler: () => readFileSync('a', 'utf8') })`),
    )
    expect(fault.split('Server code would reach the browser')).toHaveLength(2)
    expect(fault).toContain('page.tsx has actions: move sign to src/app/lab/actions.server.ts')
  })

  test('what references need is walled too, and the chain goes through the page', async () => {
    const fault = await buildFault({
      'src/client/actions/action-reference.ts': `import 'node:fs'\nexport const actionReference = () => 1`,
    })
    expect(fault).toContain(
      '  → src/app/lab/layout.tsx\n  → src/app/lab/actions.server.ts\n  → src/client/actions/action-reference.ts\n  → node:fs\n',
    )
  })
})

test('the server has every actions.server.ts of the application by its path, whoever imports it', async () => {
  await using project = await copyProject({
    'src/app/actions.server.ts': declare('ping'),
    'src/app/a/b-c/[id]/actions.server.ts': declare('one', 'two'),
    'src/app/node_modules/pack/actions.server.ts': 'throw new Error("a package is no part of the application")',
    'src/other/actions.server.ts': 'throw new Error("not in the folder of the application")',
  })
  await buildApplication(project.options, {})
  expect(JSON.parse(await ask(project, '/actions'))).toEqual({
    'a/b-c/[id]/actions.server.ts': ['one', 'two'],
    'actions.server.ts': ['ping'],
    'lab/actions.server.ts': ['sign'],
  })
})

test('an application without actions is built, and its server has none', async () => {
  await using project = await copyProject({
    [ACTIONS]: undefined,
    'src/app/lab/layout.tsx': 'export default () => null',
  })
  await buildApplication(project.options, {})
  expect(JSON.parse(await ask(project, '/actions'))).toEqual({})
})

describe('stops the build, with the file, the rule and the way out:', () => {
  test.for([
    [
      'a default export',
      `${IMPORT}export default action({ handler: () => 1 })`,
      `${ACTIONS} has a default export. An action is known by its module and its name: write export const save`,
    ],
    [
      'a default export by clause',
      `${IMPORT}const sign = action({ handler: () => 1 })\nexport { sign as default }`,
      `${ACTIONS} has a default export.`,
    ],
    [
      'all names of another module',
      `export * from './others.server.ts'`,
      `${ACTIONS} has export * from "./others.server.ts". The names of actions are read without running any module`,
    ],
    [
      'an export that is no action',
      `${declare('sign')}export const limit = 3`,
      `'limit' of ${ACTIONS} is not an action. In the browser each export`,
    ],
    [
      'a function that is no action',
      `export async function save() {}`,
      `'save' of ${ACTIONS} is not an action. In the browser each export`,
    ],
    [
      'another module as one export',
      `export * as others from './others.server.ts'`,
      `'others' of ${ACTIONS} is not an action.`,
    ],
    [
      'one action under two names',
      `${declare('sign')}export { sign as write }`,
      `'sign' of ${ACTIONS} and 'write' of ${ACTIONS} are one action, and an action has one id.`,
    ],
    [
      'an action of another module once more',
      `export { ping } from '../actions.server.ts'`,
      `'ping' of src/app/actions.server.ts and 'ping' of ${ACTIONS} are one action`,
    ],
  ] as const)('%s', async ([, text, message]) => {
    const fault = await buildFault({
      [ACTIONS]: text,
      'src/app/lab/others.server.ts': declare('other'),
      'src/app/actions.server.ts': declare('ping'),
      'src/app/lab/layout.tsx': 'export default () => null',
    })
    expect(fault).toContain(message)
    expect(fault).not.toMatch(/^\s+at /m)
  })

  test('two actions with one id', () => {
    const actions = [
      { module: 'actions.server.ts', name: 'sign' },
      { module: 'lab/actions.server.ts', name: 'sign' },
      { module: 'lab/actions.server.ts', name: 'remove' },
    ]
    expect(() => requireOwnIds('src/app', actions)).not.toThrow()
    expect(() => requireOwnIds('src/app', actions, (_module, name) => name)).toThrow(
      `'sign' of src/app/actions.server.ts and 'sign' of src/app/lab/actions.server.ts have the same id, sign. ` +
        'Give one of them another name.',
    )
  })

  test.for([
    ['throws while it is evaluated', `throw new Error('no database')`, 'Error: no database'],
    ['ends its process', 'process.exit(3)', 'its process ended early, with exit code 3'],
  ] as const)('a module that %s', async ([, statement, message]) => {
    const fault = await buildFault({ [ACTIONS]: `${declare('sign')}${statement}` })
    expect(fault).toContain(`${ACTIONS} could not be evaluated:\n${message}`)
  })

  test('a module that does not compile, once and with its line', async () => {
    const fault = await buildFault({ [ACTIONS]: `${declare('sign')}export const = 1` })
    expect(fault).toContain(`${ACTIONS}:3:`)
    expect(fault.match(/ERROR/g)).toHaveLength(1)
  })
})

test('types may stand beside actions, in every form, and so may text that looks like an export', async () => {
  await using project = await copyProject({
    'src/app/lab/signed.ts': 'export interface Signed { readonly name: string }',
    [ACTIONS]: `${IMPORT}
      import type { Signed } from './signed.ts'
      export type { Signed }
      export type * from './signed.ts'
      export interface Entry { readonly by: Signed }
      export type Entries = readonly Entry[]
      // export default 1
      const text = \`
export * from "a text";
\`
      export const sign = action({ handler: () => text })`,
  })
  await buildApplication(project.options, {})
  expect(JSON.parse(await ask(project, '/actions'))).toEqual({ 'lab/actions.server.ts': ['sign'] })
})
