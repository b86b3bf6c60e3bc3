/** `millrace dev` and the files that it reads once: the config, what the config imports, and `.env`. */
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { makeLinkedProject, startDevCommand, writeFiles } from '../../support/linked-project.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

vi.setConfig({ testTimeout: 300_000 }) // for hangs only

const CONFIG = `import { defineConfig } from 'millrace/build'
import { edition } from './settings/edition.ts'
export default defineConfig({ define: { EDITION: edition } })
`
const PAGE = `declare const EDITION: string
export default function Page() {
  return <main>Edition {EDITION}, title {process.env.PUBLIC_TITLE}</main>
}
`

/** The page's text, or why there is none: between two servers, nothing listens. */
function textAt(origin: string): Promise<string | undefined> {
  return fetch(origin).then(
    async (answer) => /<main>(.*)<\/main>/.exec(await answer.text())?.[1]?.replaceAll('<!-- -->', ''),
    (error: unknown) => String(error),
  )
}

test('changed settings restart the server in the same process, and broken ones leave the former in use', async () => {
  await using temp = await makeTempDir('settings')
  const root = await makeLinkedProject(join(temp.path, 'project'), {
    'millrace.config.ts': CONFIG,
    'settings/edition.ts': `export const edition = 'first'\n`,
    '.env': 'PUBLIC_TITLE=From a file\n',
    'src/app/counter-page.tsx': PAGE,
  })
  await using dev = await startDevCommand(root)
  const shown = async (text: string): Promise<void> => {
    await expect.poll(() => textAt(dev.origin), { timeout: 30_000 }).toBe(text)
  }
  await shown('Edition first, title From a file')

  await writeFiles(root, { 'settings/edition.ts': `export const edition = 'second'\n` })
  await shown('Edition second, title From a file')
  expect(dev.output()).toContain('settings/edition.ts changed: starting again.')

  await writeFiles(root, { 'millrace.config.ts': `${CONFIG.replace('define:', 'defines:')}` })
  await expect.poll(dev.output, { timeout: 30_000 }).toContain('The settings from before stay in use.')
  expect(dev.output()).toContain(`unknown key 'defines'`)
  await shown('Edition second, title From a file')

  await writeFiles(root, { 'millrace.config.ts': CONFIG, '.env.local': 'PUBLIC_TITLE=Of this machine\n' })
  await shown('Edition second, title Of this machine')
  await rm(join(root, '.env.local'))
  await shown('Edition second, title From a file')
  expect(dev.isRunning()).toBe(true)
})

test('a document that a restart finds unanswered loads itself again from the next server', async () => {
  await using temp = await makeTempDir('waiting')
  const root = await makeLinkedProject(join(temp.path, 'project'), {
    '.env': 'PUBLIC_WAITS=yes\n',
    'src/app/counter-page.tsx': `import { use } from 'react'
const never = new Promise<void>(() => undefined)
export default function Page() {
  if (process.env.PUBLIC_WAITS === 'yes') {
    console.log('a page waits')
    use(never)
  }
  return <main>Answered</main>
}
`,
  })
  await using dev = await startDevCommand(root)
  const document = fetch(dev.origin, { headers: { 'Sec-Fetch-Dest': 'document' } })
  await expect.poll(dev.output, { timeout: 30_000 }).toContain('a page waits')
  await writeFiles(root, { '.env': 'PUBLIC_WAITS=no\n' })
  const answer = await document
  expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([503, 'no-store'])
  expect(await answer.text()).toContain('fetch("/_m/dev/settled")')
  await expect.poll(() => textAt(dev.origin), { timeout: 30_000 }).toBe('Answered')
})

/** What a save may leave, each of which ends a command that starts with it. */
const BROKEN: readonly (readonly [file: string, text: string, told: string])[] = [
  ['millrace.config.ts', `throw new Error('no config today')\n`, 'no config today'],
  ['millrace.config.ts', 'export default {\n', 'millrace.config.ts could not be loaded'],
  ['millrace.config.ts', 'export default { basePath: 5 }\n', 'basePath'],
  ['millrace.config.ts', `export default { app: 'nowhere' }\n`, 'nowhere is not an application'],
  ['settings/edition.ts', 'export const other = 1\n', 'edition'],
  ['.env', 'LOG_LEVEL=loud\n', 'LOG_LEVEL'],
]

/** Printed once for each fault. */
const WAITS = /when the settings are fixed|from before stay in use/g

test('settings that are saved broken during a restart are told once, and waited for', async () => {
  await using temp = await makeTempDir('settings')
  const root = await makeLinkedProject(join(temp.path, 'project'), {
    'millrace.config.ts': CONFIG,
    'settings/edition.ts': `export const edition = '0'\n`,
    'src/app/counter-page.tsx': PAGE,
  })
  await using dev = await startDevCommand(root)
  const shown = async (edition: string): Promise<void> => {
    await expect.poll(() => textAt(dev.origin), { timeout: 60_000 }).toBe(`Edition ${edition}, title `)
  }
  const printed = (part: RegExp): number => dev.output().match(part)?.length ?? 0
  await shown('0')
  for (const [index, [file, broken, told]] of BROKEN.entries()) {
    const restarts = printed(/starting again/g)
    const edition = `export const edition = '${index + 1}'\n`
    await writeFiles(root, { 'settings/edition.ts': edition })
    await expect.poll(() => printed(/starting again/g), { timeout: 60_000, interval: 5 }).toBe(restarts + 1)
    await writeFiles(root, { [file]: broken })
    await expect.poll(() => printed(WAITS), { timeout: 60_000 }).toBe(index + 1)
    expect(dev.output().split('starting again').at(-1)).toContain(told)
    if (file === '.env') await rm(join(root, file))
    else await writeFiles(root, { 'millrace.config.ts': CONFIG, 'settings/edition.ts': edition })
    await shown(String(index + 1))
  }
  expect(printed(WAITS)).toBe(BROKEN.length)
  expect(dev.isRunning()).toBe(true)
})

test('a config that ends its process, and one that is deleted and put back, leave the server', async () => {
  await using temp = await makeTempDir('settings')
  const root = await makeLinkedProject(join(temp.path, 'project'), {
    'millrace.config.ts': CONFIG.replace('EDITION: edition', `EDITION: 'first'`),
    'settings/edition.ts': `export const edition = ''\n`,
    'src/app/counter-page.tsx': PAGE,
  })
  await using dev = await startDevCommand(root)
  const shown = async (text: string): Promise<void> => {
    await expect.poll(() => textAt(dev.origin), { timeout: 60_000 }).toBe(text)
  }
  await shown('Edition first, title ')
  await writeFiles(root, { 'millrace.config.ts': 'process.exit()\n' })
  await expect.poll(dev.output, { timeout: 60_000 }).toContain('ended the process that loaded it')
  await rm(join(root, 'millrace.config.ts'))
  await writeFiles(root, { 'millrace.config.ts': CONFIG.replace('EDITION: edition', `EDITION: 'second'`) })
  await shown('Edition second, title ')
  expect(dev.isRunning()).toBe(true)
})
test('a config of PostCSS counts as one of them, also while it imports what is not there', async () => {
  await using temp = await makeTempDir('settings')
  const paint = (colour: string): string =>
    `export const paint = { postcssPlugin: 'paint', Declaration: { color: (node) => node.value === 'WATER' && (node.value = '${colour}') } }\n`
  const config = `import { paint } from './styles/paint.mjs'\nexport default { plugins: [paint] }\n`
  const root = await makeLinkedProject(join(temp.path, 'project'), {
    'postcss.config.mjs': config,
    'styles/paint.mjs': paint('teal'),
    'src/app/site.css': 'main { color: WATER }',
    'src/app/counter-page.tsx': `import './site.css'\nexport default () => <main>Painted</main>\n`,
  })
  await symlink(join(import.meta.dirname, '../../../node_modules/postcss'), join(root, 'node_modules/postcss'))
  await using dev = await startDevCommand(root)
  const style = '/_m/assets/styles/src/app/site.css'
  const shown = async (text: string): Promise<void> => {
    await expect.poll(() => styleAt(dev.origin, style), { timeout: 30_000 }).toContain(text)
  }
  await shown('color: teal')

  await writeFiles(root, { 'styles/paint.mjs': paint('navy') })
  await shown('color: navy')
  expect(dev.output()).toContain('styles/paint.mjs changed: starting again.')

  await writeFiles(root, { 'postcss.config.mjs': `import 'none'\n${config}` })
  await expect.poll(dev.output, { timeout: 30_000 }).toContain('postcss.config.mjs needs none, which is not installed.')
  await shown('color: navy')
  await writeFiles(root, { 'postcss.config.mjs': config, 'styles/paint.mjs': paint('white') })
  await shown('color: white')
})

/** A stylesheet's text, or why there is none. */
function styleAt(origin: string, path: string): Promise<string> {
  return fetch(origin + path).then((answer) => answer.text(), String)
}
